/** The app as a page without a server of its own. The browser keeps its key and its tokens, also while the page is closed. */
import { browserStore, createClient } from '@phds/sdk';
import { drawChart } from '../src/chart.ts';
import { explain, isOver, showContent } from '../src/page.ts';

const { baseUrl = '', clientId = '' } = document.querySelector('script')?.dataset ?? {};
const redirectUri = `${location.origin}/`;
const store = browserStore();
const client = createClient({ baseUrl, clientId, redirectUri, store, dpop: store, retryBudgetMs: 5_000 });

const CONNECTION = 'connectionId';
const KEPT = 'kept';

function show(text: string, chart?: string) {
  const action = localStorage.getItem(CONNECTION) === null ? 'connect' : 'disconnect';
  (document.querySelector('main') as HTMLElement).innerHTML = showContent(text, action, chart);
}

async function connect() {
  const { url, kept } = await client.authorize({ scopes: ['read:health-data:heart'] });
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(url);
}

/** Finishes an authorization when the browser returns from one. */
async function comeBack() {
  const { href, search } = location;
  const kept = sessionStorage.getItem(KEPT);
  if (kept === null || search === '') return;
  // A code works once, so a reload must not send it again.
  sessionStorage.removeItem(KEPT);
  history.replaceState(null, '', '/');
  const { id } = await client.exchange(href, JSON.parse(kept));
  localStorage.setItem(CONNECTION, id);
}

async function showChart() {
  const id = localStorage.getItem(CONNECTION);
  if (id === null) return show('See your heart rate.');
  const list = client.connection(id).healthData('heart', { type: 'Heart Rate' });
  const readings = await list.toArray({ limit: 200 });
  return show(`Your newest ${readings.length} readings, beats per minute.`, drawChart(readings));
}

async function disconnect() {
  const id = localStorage.getItem(CONNECTION);
  if (id !== null) await client.connection(id).disconnect();
  localStorage.removeItem(CONNECTION);
}

async function run(...steps: readonly (() => Promise<void>)[]) {
  try {
    for (const step of steps) await step();
  } catch (error) {
    console.warn(error);
    if (isOver(error)) await disconnect().catch(console.warn);
    show(explain(error));
  }
}

document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const isConnected = localStorage.getItem(CONNECTION) !== null;
  await run(...(isConnected ? [disconnect, showChart] : [connect]));
});
await run(comeBack, showChart);
