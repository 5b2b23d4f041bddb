import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import type { ServiceTokenSource } from '@phds/service-kit/trust/service-token';
import { ADA } from '@phds/synthetic/people/ada';
import { GRACE } from '@phds/synthetic/people/grace';
import { SPARSE } from '@phds/synthetic/people/people';
import { openTimeline, type Timeline } from '@phds/synthetic/timeline';
import { sendTimeline } from './send-timeline.ts';

const DEADLINE_MS = 30_000;
const DAY_MS = 86_400_000;

/**
 * Creates the synthetic users' data through the ingestion rpc: `ada` and `grace` with data of every kind, `sparse` with a little,
 * `empty` with none. With `since`, the data up to there exists, and only the measurements of `ada` and `grace` after it are added.
 * Idempotent for the same instants. Throws when anything is refused.
 */
export async function seedUsers(
  address: string,
  tokens: ServiceTokenSource,
  { since, until }: { readonly since: Date | null; readonly until: Date },
): Promise<void> {
  using channel = openRpcChannel({ address, audience: 'health-data', tokens, deadlineMs: DEADLINE_MS });
  const ingestion = channel.client(IngestionService);
  const timelines = since === null ? openLives(until) : openNewDays(since, until);
  await Promise.all(timelines.map((timeline) => sendTimeline(ingestion, timeline.person.id, timeline)));
}

function openLives(until: Date): Timeline[] {
  return [ADA, GRACE, SPARSE].map((person) => openTimeline(person, { until: until.getTime() }));
}

/** From the day of `since`, which is sent again as a whole. Appointments and doctors' entries stay as they were made first. */
function openNewDays(since: Date, until: Date): Timeline[] {
  const days = Math.ceil((until.getTime() - since.getTime()) / DAY_MS) + 1;
  return [ADA, GRACE].map((person) => {
    const timeline = openTimeline(person, { until: until.getTime(), extent: { days } });
    return {
      ...timeline,
      person: { ...person, history: { ...person.history, appointments: [], careRecords: [] } },
    };
  });
}
