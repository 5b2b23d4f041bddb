import { findProgram, installPackage } from '@phds/local-servers/system-programs';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Path of a Chromium: the one in `CHROMIUM`, else one on the PATH, else a newly installed one. Null if all fail. */
export async function findChromium(): Promise<string | null> {
  const given = process.env['CHROMIUM'];
  if (given !== undefined && given !== '') return given;
  const found = await findProgram(PROGRAMS);
  if (found !== null) return found;
  return (await installPackage('chromium', console.warn)) ? findProgram(PROGRAMS) : null;
}
