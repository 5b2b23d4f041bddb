import { findProgram, installPackage } from '@phds/local-stack/servers/system-programs';

// The shell, Chromium without a user interface, comes first: it needs half the processor time.
const PROGRAMS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

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
