// The page's script is linted as the page runs it: all files in one.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  { languageOptions: { sourceType: "script", globals: globals.browser }, linterOptions: { reportUnusedDisableDirectives: "error" } },
];
