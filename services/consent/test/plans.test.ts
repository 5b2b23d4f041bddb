import { expect, test } from '@jest/globals';
import { capture, explain } from '@phds/test-kit/plans';
import { createOperatorActs } from '../src/operator-acts.ts';
import { summarisePerson } from '../src/people.ts';
import { listWebhooks } from '../src/webhooks/operated.ts';
import { shareConsent } from './running-service.ts';

const ROWS = 20_000;

const { owner } = await shareConsent();

test.each<[string, () => Promise<unknown>, ...string[]]>([
  [
    'what is undelivered of each endpoint',
    () => listWebhooks(owner, { page: 1, pageSize: 20 }),
    `INSERT INTO app (client_id, owner_id, profile, profile_updated_at)
     VALUES ('app_events', 'dev', '{"name": "Events"}', now())`,
    `INSERT INTO webhook_endpoint (id, client_id, url, events) VALUES ('whe', 'app_events', 'https://events.test', '{data.updated}')`,
    `INSERT INTO webhook_event (endpoint_id, type, state, next_attempt_at)
     SELECT 'whe', 'test', CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'delivered' END, NULL FROM generate_series(1, ${ROWS}) n`,
  ],
  [
    'the acts of a request',
    () =>
      createOperatorActs({ pools: { ordinary: owner }, change: (_, run) => run() }).listCompleted('req_7'),
    `INSERT INTO consent_audit.operator_act
     SELECT n, now(), 'operator:on-call', 'rpc', NULL, '', '', 'reason', 'req_' || n, 0, '', '' FROM generate_series(1, ${ROWS}) n`,
  ],
  [
    'the last read of a person who has not been read lately',
    () => summarisePerson(owner, 'quiet'),
    `INSERT INTO person (user_id) VALUES ('quiet')`,
    `INSERT INTO access_record (id, writer, seq, ordinal, at, user_ref, client_id, grant_id, scope, endpoint, window_from,
       window_to, page, record_count, request_id)
     SELECT first_id_of(r.at), '00000000-0000-0000-0000-000000000001', n, 0, r.at,
       CASE WHEN n > ${ROWS} THEN (SELECT user_ref FROM person WHERE user_id = 'quiet')
         ELSE ('00000000-0000-0000-0000-00000000' || 1000 + n % 200)::uuid END, '', '', '', '', '', '', 1, 1, ''
     FROM generate_series(1, ${ROWS} + 10) n, LATERAL (SELECT now() - n * interval '1 millisecond' AS at) r`,
  ],
])('an answer for operators has %s without reading all that is stored', async (_, list, ...rows) => {
  for (const statement of rows) await owner.query(statement);
  await owner.query('ANALYZE');
  const [asked] = await capture(list);
  const { touched } = await explain(owner, asked ?? { text: '', values: [] }, true);
  expect(touched).toBeLessThan(ROWS / 100);
});
