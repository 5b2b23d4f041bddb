/**
 * Preloaded into the services of `pnpm prove:alerts`. If the file that PROVE_BROKEN_BUILD names exists when a process starts, the process
 * runs a build with defects: its token cache keeps what was evicted, and health-data releases data whatever consent's verdict is.
 */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';

const DEFECTS: readonly (readonly [file: string, right: string, wrong: string])[] = [
  ['gateway/src/cache/access-tokens.ts', ' && !this.#isEvicted(known)', ''],
  ['health-data/src/release.ts', 'if (verdict !== Verdict.RELEASED) throw', 'if (false) throw'],
];

if (existsSync(process.env['PROVE_BROKEN_BUILD'] ?? '')) {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const defects = DEFECTS.filter(([file]) => url.endsWith(`/services/${file}`));
      if (defects.length === 0 || loaded.source == null) return loaded;
      let source = Buffer.from(loaded.source as Uint8Array).toString();
      for (const [file, right, wrong] of defects) {
        if (!source.includes(right)) throw new Error(`${file} has changed: adapt the defect`);
        source = source.replace(right, wrong);
      }
      return { ...loaded, source };
    },
  });
}
