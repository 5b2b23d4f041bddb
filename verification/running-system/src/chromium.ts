import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { findProgram, installPackage } from '@phds/local-stack/servers/system-programs';
import { chromium, type LaunchOptions } from 'playwright-core';

// The shell, Chromium without a user interface, comes first: it needs half the processor time.
const PROGRAMS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

// A busy machine needs many times what a quiet one does. Only a failing test waits this long.
const START_LIMIT_MS = 120_000;

// Not every distribution has the shell.
const PACKAGES = ['chromium-headless-shell', 'chromium'];

/** Path of a Chromium: the one in `CHROMIUM`, else one on the PATH, else a newly installed one. Null if all fail. */
export async function findChromium(): Promise<string | null> {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') return given;
  const found = await findProgram(PROGRAMS);
  if (found !== null) return found;
  for (const name of PACKAGES) {
    if (await installPackage(name, 'the tests of the web app', console.warn)) return findProgram(PROGRAMS);
  }
  return null;
}

/** How to start a Chromium; null when none can be installed. */
export async function findLaunchOptions(): Promise<LaunchOptions | null> {
  const executablePath = await findChromium();
  if (executablePath === null) return null;
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-dev-shm-usage'];
  return { executablePath, args, timeout: START_LIMIT_MS };
}

/** A Chromium to which other processes connect. */
interface ServedChromium {
  /** For `chromium.connectOverCDP`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts a Chromium to which other processes connect by its own protocol. Playwright's server would pass on every message in this
 * process and cost more than the tests themselves. Throws when no Chromium can be installed.
 */
export async function serveChromium(): Promise<ServedChromium> {
  const options = await findLaunchOptions();
  if (options === null) throw new Error('no Chromium on this machine: use describeWithChromium');
  const port = await leasePort();
  const browser = await chromium.launch({
    ...options,
    args: [...(options.args ?? []), `--remote-debugging-port=${port}`],
  });
  return { url: `http://127.0.0.1:${port}`, close: () => browser.close() };
}
