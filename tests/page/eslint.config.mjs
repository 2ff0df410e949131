// The page's script is linted as modules, each of which names what it uses.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  { languageOptions: { sourceType: "module", globals: globals.browser }, linterOptions: { reportUnusedDisableDirectives: "error" } },
];
