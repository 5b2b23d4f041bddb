import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from 'express';
import sirv from 'sirv';
import { GUARDS } from '../respond.ts';

const A_YEAR_SECONDS = 31_536_000;

/** Serves what lies in `assets` at start-up, compressed where it was built so. Names hold a hash of the content. */
export function mountWebFiles(router: Router, directory: string): void {
  const assets = join(directory, 'assets');
  if (!existsSync(assets)) return;
  const files = sirv(assets, {
    brotli: true,
    gzip: true,
    immutable: true,
    maxAge: A_YEAR_SECONDS,
    setHeaders: (response) => {
      for (const [name, value] of Object.entries(GUARDS)) response.setHeader(name, value);
    },
  });
  router.use('/assets', files);
}
