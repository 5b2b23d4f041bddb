import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@phds/local-stack/stack';
import { type CallableStack, ingest } from '@phds/running-system/ingestion';
import { openClient } from '@phds/test-kit/open-client';
import { END_LIMIT_MS, PauseGate } from './pause-gate.ts';

type Site = CallableStack & Pick<Stack, 'databases'>;

/** The result of the importers. */
export interface ImportReport {
  /** Readings acknowledged so far, over all faults. */
  readonly acknowledged: number;
  readonly violations: readonly string[];
}

interface Importer {
  readonly userId: string;
  acknowledged: number;
  /** Whether the current batch was sent but not acknowledged. */
  isUnsure: boolean;
}

const BATCH = 20;
const PAUSE_MS = 30;
const FIRST = Date.parse('2020-01-01T00:00:00Z');

// Readings and their counts are written in one transaction.
const STORED = `
  SELECT count(*)::int AS stored,
    (SELECT coalesce(sum(count), 0)::int FROM health_data.reading_count WHERE user_id = $1 AND span = 'all') AS counted
  FROM health_data.reading WHERE user_id = $1`;

/** Importers that write continuously. Each repeats a batch until it is acknowledged, then sends the next. */
export class Importers implements Disposable {
  readonly #site: Site;
  readonly #importers: readonly Importer[];
  readonly #gate = new PauseGate();
  readonly #refusals: string[] = [];
  #disposed = false;

  constructor(site: Site, users: readonly string[]) {
    this.#site = site;
    this.#importers = users.map((userId) => ({ userId, acknowledged: 0, isUnsure: false }));
    for (const importer of this.#importers) void this.#run(importer);
  }

  begin(): void {
    this.#gate.open();
  }

  /** Lets all importers finish their batch, and compares acknowledged readings with stored ones. */
  async end(): Promise<ImportReport> {
    this.#gate.close();
    await this.#gate.untilWaiting(this.#importers);
    const violations = this.#refusals.splice(0).map((text) => `import: refused: ${text}`);
    for (const importer of this.#importers) violations.push(...(await this.#judge(importer)));
    return {
      acknowledged: this.#importers.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      violations,
    };
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
  }

  async #run(importer: Importer): Promise<void> {
    while (!this.#disposed) {
      // An unacknowledged batch may have been stored; repeating it then changes nothing.
      if (!importer.isUnsure) await this.#gate.pass(importer);
      importer.isUnsure = !(await this.#put(importer));
      if (!importer.isUnsure) importer.acknowledged += BATCH;
      await delay(PAUSE_MS);
    }
  }

  async #put({ userId, acknowledged }: Importer): Promise<boolean> {
    const readings = Array.from({ length: BATCH }, (_, index) => {
      const start = new Date(FIRST + (acknowledged + index) * 1_000).toISOString();
      return { type: 'Steps', start, end: start, value: 1, source: 'synthetic' };
    });
    const answer = await ingest(this.#site, 'putReadings', { userId, readings }).catch(() => null);
    if (answer?.result?.refusals !== undefined) this.#refusals.push(JSON.stringify(answer));
    return answer !== null;
  }

  async #judge(importer: Importer): Promise<string[]> {
    const { userId, acknowledged } = importer;
    if (!this.#gate.isWaiting(importer)) {
      return [`no recovery: ${userId} was not acknowledged for ${END_LIMIT_MS} ms after the end`];
    }
    const { stored, counted } = await this.#count(userId);
    if (stored === acknowledged && counted === acknowledged) return [];
    return [
      `import: of ${userId} ${acknowledged} readings were acknowledged, ${stored} stored, ${counted} counted`,
    ];
  }

  async #count(userId: string): Promise<{ readonly stored: number; readonly counted: number }> {
    await using client = await openClient(this.#site.databases['health-data'].ownerUrl);
    return (await client.query(STORED, [userId])).rows[0];
  }
}
