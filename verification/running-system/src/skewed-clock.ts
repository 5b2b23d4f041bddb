/**
 * Loaded into a service before its own code (`node --import`). Shifts its wall clock by the milliseconds in the file named by
 * FAULTS_CLOCK_FILE, which is read continuously, so that a clock can be wrong at the start and jump later. `performance.now()` and
 * timers are not affected, as when an administrator sets a clock.
 */
import { readFileSync } from 'node:fs';

const LOOK_MS = 200;

const file = process.env['FAULTS_CLOCK_FILE'];
if (file !== undefined) skewClock(file);

function skewClock(path: string): void {
  const RealDate = Date;
  let skew = readSkew(path);
  setInterval(() => {
    skew = readSkew(path);
  }, LOOK_MS).unref();
  const now = () => RealDate.now() + skew;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

function readSkew(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) || 0;
  } catch {
    return 0;
  }
}
