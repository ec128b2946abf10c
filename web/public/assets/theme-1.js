// Runs before anything is drawn, so that a page in the dark does not flash white. Served for ever under its name: a
// change needs a new number.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('tarsy.theme');
  } catch {
    // Storage may be forbidden; the system's choice holds then.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
