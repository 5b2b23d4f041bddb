import MiniSearch, { type SearchResult } from 'minisearch';
import { SEARCH_OPTIONS } from '../src/search-options.ts';

const MOST_RESULTS = 8;
const COPIED_MS = 2_000;

const field = document.querySelector<HTMLInputElement>('#search');
const results = document.querySelector<HTMLElement>('#results');
const found = document.querySelector<HTMLElement>('#found');

openNavigation();
addCopyButtons();
if (field !== null && results !== null && found !== null) startSearch(field, results, found);

/** Opens the list of pages where it has a column of its own. */
function openNavigation(): void {
  const list = document.querySelector<HTMLDetailsElement>('nav.pages details');
  const wide = matchMedia('(min-width: 60rem)');
  const follow = () => {
    if (list !== null) list.open = wide.matches;
  };
  wide.addEventListener('change', follow);
  follow();
}

function addCopyButtons(): void {
  if (navigator.clipboard === undefined) return;
  const status = document.createElement('p');
  status.className = 'announced';
  status.setAttribute('role', 'status');
  document.body.append(status);
  for (const block of document.querySelectorAll<HTMLElement>('pre[data-language]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.textContent ?? '');
      button.textContent = 'Copied';
      status.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
        status.textContent = '';
      }, COPIED_MS);
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

function startSearch(input: HTMLInputElement, list: HTMLElement, status: HTMLElement): void {
  let index: Promise<MiniSearch> | undefined;
  const load = () => {
    index ??= loadIndex(input.dataset['index'] ?? '').catch((error: unknown) => {
      index = undefined;
      throw error;
    });
    return index;
  };
  const close = () => {
    list.hidden = true;
    status.textContent = '';
  };
  const search = async () => {
    const words = input.value.trim();
    if (words === '') return close();
    try {
      const hits = (await load()).search(words);
      // The text may have changed while the index was loaded.
      if (input.value.trim() === words) show(list, status, hits);
    } catch {
      list.hidden = true;
      status.textContent = 'The search could not be loaded. Please try again.';
    }
  };
  input.disabled = false;
  input.addEventListener('focus', () => void load().catch(() => undefined));
  input.addEventListener('input', () => void search());
  listenForKeys(input, list, close);
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !input.closest('search')?.contains(target)) close();
  });
}

async function loadIndex(address: string): Promise<MiniSearch> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), SEARCH_OPTIONS);
}

function show(list: HTMLElement, status: HTMLElement, hits: readonly SearchResult[]): void {
  list.replaceChildren(...hits.slice(0, MOST_RESULTS).map(toLink));
  list.hidden = hits.length === 0;
  status.textContent =
    hits.length === 0 ? 'Nothing found.' : `${describeCount(hits.length)} Arrow keys choose.`;
}

function describeCount(count: number): string {
  return count > MOST_RESULTS ? `${MOST_RESULTS} of ${count} shown.` : `${count} found.`;
}

function toLink({ id, title, page, excerpt }: SearchResult): HTMLElement {
  const link = document.createElement('a');
  link.href = String(id);
  const name = document.createElement('strong');
  name.textContent = title === page ? title : `${page}: ${title}`;
  const text = document.createElement('span');
  text.textContent = excerpt;
  link.append(name, text);
  return link;
}

/** `/` goes to the field, arrows move through the results, Enter opens one, Escape closes them. */
function listenForKeys(input: HTMLInputElement, list: HTMLElement, close: () => void): void {
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  const move = (step: number) => {
    const stops: HTMLElement[] = [input, ...list.querySelectorAll('a')];
    const place = stops.indexOf(document.activeElement as HTMLElement);
    stops[Math.min(Math.max(place + step, 0), stops.length - 1)]?.focus();
  };
  input.closest('search')?.addEventListener('keydown', (event) => {
    const { key } = event as KeyboardEvent;
    if (list.hidden) return;
    if (key === 'Escape') {
      close();
      input.focus();
    } else if (key === 'ArrowDown') move(1);
    else if (key === 'ArrowUp') move(-1);
    else if (key === 'Enter' && event.target === input) list.querySelector('a')?.click();
    else return;
    event.preventDefault();
  });
  // A result on the page that is already open changes the anchor only.
  list.addEventListener('click', close);
}
