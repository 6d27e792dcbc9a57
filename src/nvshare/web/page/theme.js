// Light, dark, or the system's choice; and the current colours for canvases.
import { $ } from "./dom.js";

const KEY = "nvshare-theme";
const THEMES = ["auto", "light", "dark"];
// For programs in bars and in memory over time, in the order of their arrival. They differ in lightness as well as in hue.
const LIGHT = ["#2f6fb7", "#c9772b", "#3d8f6b", "#8a5bb5", "#b8475c", "#55707e", "#8c8420", "#2b98a8"];
const DARK = ["#6aa6e8", "#e6a262", "#6fc59c", "#b793dd", "#e8869a", "#9db4c0", "#c9c05a", "#63c6d4"];

let colours = null;

export function startTheme(onChange) {
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
    colours = null;
    onChange();
  };
  let theme = THEMES.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "auto";
  $("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.setItem(KEY, theme);
    apply(theme);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(theme));
  apply(theme);
}

export function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

export const programColour = (place) => (isDark() ? DARK : LIGHT)[place % LIGHT.length];

// A custom property is text until something is painted with it.
export function colour(name) {
  colours ??= new Map();
  if (!colours.has(name)) {
    const probe = document.createElement("i");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    colours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(name);
}
