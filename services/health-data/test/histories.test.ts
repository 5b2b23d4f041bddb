import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ComparedPerson, type Comparison, isRight } from './reference/compared-person.ts';
import { fromUnits, toUnits } from './reference/exact.ts';
import { type History, histories, type Step } from './reference/histories.ts';
import { NOW } from './reference/moments.ts';
import type { Kept, Sent } from './reference/person.ts';
import { sharePorts } from './reference/ports.ts';
import { type Asked, toRequest } from './reference/questions.ts';
import type { Request } from './reference/request.ts';

/** Number of histories; `pnpm prove:summaries` runs many, of a random seed. */
const GIVEN = process.env['SUMMARY_HISTORIES'];
const HISTORIES = Number(GIVEN ?? 12);
const RANDOM_SEED = Math.trunc(Math.random() * 2 ** 30);
const SEED = Number(process.env['SUMMARY_SEED'] ?? (GIVEN === undefined ? 1 : RANDOM_SEED));

// Concurrent histories of different people, which also uses all cores.
const WORKERS = 6;

const ports = await sharePorts(NOW);

let people = 0;

// After a failure, smaller failing histories are searched for during this time.
const SHRINKING_MS = 20_000;
let givenUpAt = Number.POSITIVE_INFINITY;

/** Runs a history. The first wrong or missing response ends it. */
async function live({ steps, questions }: History): Promise<void> {
  if (performance.now() > givenUpAt) return;
  people += 1;
  const compared = new ComparedPerson(ports, `person ${people}`);
  try {
    for (const step of [...steps, { do: 'ask', questions } as const]) {
      for (const comparison of await take(compared, step)) checkRight(comparison);
    }
  } catch (error) {
    givenUpAt = Math.min(givenUpAt, performance.now() + SHRINKING_MS);
    throw error;
  }
}

function checkRight(comparison: Comparison): void {
  if (isRight(comparison)) return;
  const { about, ...answers } = comparison;
  const lines = Object.entries(answers).map(([name, text]) => `${name.padEnd(8)} ${text}`);
  throw new Error([JSON.stringify(about), ...lines].join('\n'));
}

async function take(compared: ComparedPerson, step: Step): Promise<Comparison[]> {
  const { readings } = compared.person;
  const chosen = (picks: readonly number[]) =>
    readings.length === 0
      ? []
      : picks.map((pick) => readings[pick % readings.length]).filter((one) => one !== undefined);
  switch (step.do) {
    case 'put':
      return [await compared.put(step.batch)];
    case 'repeat': {
      const batch = chosen(step.picks).map((reading, index) =>
        step.change[index] === true ? { ...reading, value: reading.metric.plausible.max } : reading,
      );
      return batch.length === 0 ? [] : [await compared.put(batch)];
    }
    case 'echo': {
      const batch = chosen(step.picks).flatMap((reading) => echo(reading, step.source));
      return batch.length === 0 ? [] : [await compared.put(batch)];
    }
    case 'delete':
      return [await compared.delete(chosen(step.picks), step.spans)];
    case 'move':
      await compared.move(step.zone);
      return [];
    case 'erase':
      await compared.erase();
      return [];
    case 'together': {
      const writers = step.writers.map(async ({ batch, spans }) => [
        await compared.put(batch),
        await compared.delete([], spans),
      ]);
      const [written] = await Promise.all([
        Promise.all(writers),
        step.zone === null ? undefined : compared.move(step.zone),
      ]);
      return written.flat();
    }
    case 'meanwhile': {
      const { change, questions } = step;
      const work = () => (typeof change === 'string' ? compared.move(change) : compared.put(change));
      return compared.readDuring(
        work,
        questions.map((asked) => toMeant(compared, asked)),
      );
    }
    case 'ask':
      return Promise.all(step.questions.map((asked) => compared.read(toMeant(compared, asked))));
  }
}

/**
 * The same from another device: for an additive type split into two parts a millisecond apart, otherwise a reading at the same
 * time.
 */
function echo({ type, start, end, value, metric }: Kept, source: string): Sent[] {
  if (value === null) return [];
  if (metric.kind === 'average') return [{ type, start, end, source, value: metric.plausible.max }];
  const units = toUnits(value, metric.decimals);
  const half = Math.trunc(units / 2);
  return [half, units - half].map((part, index) => ({
    type,
    start: start - index,
    end: end - index,
    source,
    value: fromUnits(part, metric.decimals),
  }));
}

function toMeant(compared: ComparedPerson, asked: Asked): Request {
  const whole = compared.expect({ ...asked.request, page: 1 });
  const total = 'pagination' in whole ? (whole.pagination as { total: number }).total : 0;
  return toRequest(asked, total);
}

test(
  `after any changes of a person's data, every read returns the same as the reference: ${HISTORIES} histories, seed ${SEED}`,
  async () => {
    const workers = Array.from({ length: WORKERS }, (_, worker) =>
      fc.assert(fc.asyncProperty(histories, live), {
        numRuns: Math.ceil(HISTORIES / WORKERS),
        seed: SEED + worker,
      }),
    );
    await Promise.all(workers);
    expect(people).toBeGreaterThanOrEqual(HISTORIES);
  },
  180_000 + HISTORIES * 500,
);
