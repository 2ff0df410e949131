/* The search, the theme, and what a keyboard needs. `sections` comes from index.js:
   [page, its title, anchor, heading, text, what its tables describe, a line for each row]. */
"use strict";

(() => {
    const root = document.body.dataset.root;
    const field = document.querySelector("input[type=search]");
    const found = document.getElementById("found");
    const article = document.querySelector("article");
    const MOST = 30;

    // Theme ----------------------------------------------------------------------------------------------------------

    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
        const theme = isDark() ? "light" : "dark";
        document.documentElement.dataset.theme = theme;
        try { localStorage.setItem("tabiya-theme", theme); } catch { /* then it holds for this page */ }
        name();
    });
    system.addEventListener("change", name);
    name();
    button.hidden = false;

    // Pages ----------------------------------------------------------------------------------------------------------

    const pages = document.querySelector(".pages");
    const wide = matchMedia("(min-width: 56.01rem)");
    const unfold = () => { pages.open = wide.matches; };
    wide.addEventListener("change", unfold);
    unfold();
    // What can be moved aside can be moved by keyboard.
    for (const box of document.querySelectorAll("pre, .wide")) box.tabIndex = 0;

    // Search ---------------------------------------------------------------------------------------------------------

    const lower = sections.map(([, title, , heading, text, rows]) => [title, heading, text, rows].map((part) => part.toLowerCase()));

    // How well a section answers; 0 unless it has every word.
    const weigh = ([title, heading, text, rows], words) => {
        let weight = 0;
        for (const word of words) {
            const here = (heading.includes(word) ? 8 : 0) + (title.includes(word) ? 4 : 0) + Math.min(text.split(word).length - 1, 3);
            if (!here) return 0;
            weight += here;
        }
        // Words that follow each other are what is meant, and a row of their own explains them.
        const phrase = words.join(" ");
        return weight + (heading.includes(phrase) ? 20 : 0) + (text.includes(phrase) ? 10 : 0) + (rows.split("\n").includes(phrase) ? 30 : 0);
    };

    // Appends text with the words marked.
    const mark = (element, text, words) => {
        const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
        text.split(new RegExp(`(${escaped.join("|")})`, "iu")).forEach((part, at) => {
            if (at % 2) element.append(Object.assign(document.createElement("mark"), { textContent: part }));
            else element.append(part);
        });
    };

    // The text around the words, cut between words.
    const excerpt = (text, words) => {
        const where = [words.join(" "), ...words].map((word) => text.toLowerCase().indexOf(word)).find((at) => at >= 0) ?? 0;
        const start = where > 60 ? text.indexOf(" ", where - 60) + 1 : 0;
        const end = text.length > start + 180 ? text.lastIndexOf(" ", start + 180) : text.length;
        return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
    };

    const search = () => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        found.hidden = !words.length;
        article.hidden = words.length > 0;
        if (!words.length) return;
        const hits = lower.map((section, at) => [weigh(section, words), at]).filter(([weight]) => weight);
        hits.sort(([a, first], [b, second]) => b - a || first - second);
        const heading = document.createElement("h1");
        heading.textContent = hits.length === 1 ? "One section" : hits.length ? `${hits.length} sections` : "Nothing found";
        const list = document.createElement("ul");
        for (const [, at] of hits.slice(0, MOST)) {
            const [page, title, anchor, words_, text] = sections[at];
            const item = document.createElement("li");
            const link = document.createElement("a");
            link.href = `${root}/${page}#${anchor}`;
            mark(link, title === words_ ? title : `${title}: ${words_}`, words);
            const line = document.createElement("p");
            mark(line, excerpt(text, words), words);
            item.append(link, line);
            list.append(item);
        }
        found.replaceChildren(heading, list);
        scrollTo(0, 0);
    };

    const clear = () => {
        field.value = "";
        search();
    };
    const form = field.form;
    form.hidden = false;
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        found.querySelector("a")?.click();
    });
    field.addEventListener("input", search);
    // A section of this very page must be shown before it is gone to.
    found.addEventListener("click", (event) => { if (event.target.closest("a")) clear(); });
    addEventListener("keydown", (event) => {
        if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
            event.preventDefault();
            field.focus();
        } else if (event.key === "Escape" && field.value) clear();
    });
    // Coming back to a page, a browser fills the field in.
    search();
})();
