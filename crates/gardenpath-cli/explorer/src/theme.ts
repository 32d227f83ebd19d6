// Light or dark: as the system says, until somebody chooses. The choice is kept in this browser.

import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const KEY = "gardenpath-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null;
  }
}

/** Before the first paint, so that no light page flashes up in the dark. */
export function applyTheme(): void {
  document.documentElement.style.colorScheme = chosen() ?? "light dark";
}

/** The theme that is shown, and a function that changes to the other one. */
export function useTheme(): [Theme, () => void] {
  const read = (): Theme => chosen() ?? (system.matches ? "dark" : "light");
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    const listener = () => setTheme(read());
    system.addEventListener("change", listener);
    return () => system.removeEventListener("change", listener);
  }, []);
  const toggle = () => {
    const other = theme === "light" ? "dark" : "light";
    try {
      localStorage.setItem(KEY, other);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    document.documentElement.style.colorScheme = other;
    setTheme(other);
  };
  return [theme, toggle];
}
