import {
  CompletedActSchema,
  GetPersonResponseSchema,
  PersonOperatorService,
} from '@phds/contracts/phds/consent/v1/people_pb';
import type { Clock } from '@phds/service-kit/clock';
import { toCarriedIds } from '@phds/service-kit/current-work';
import { notFound } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { toMessage } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import { AUDITORS, OPERATORS, SUPPORTERS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import { countApprovals } from './approvals.ts';
import type { OperatorActs } from './operator-acts.ts';
import { summarisePerson } from './people.ts';
import type { Sessions } from './sessions.ts';

/** phds.consent.v1.PersonOperatorService. */
export function createPersonOperatorService({
  pools: { ordinary: pool },
  sessions,
  acts,
  clock,
}: {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly sessions: Pick<Sessions, 'end'>;
  readonly acts: Pick<OperatorActs, 'listCompleted'>;
  readonly clock: Clock;
}) {
  return implement(
    PersonOperatorService,
    {
      async getPerson({ userId: text }) {
        const userId = parseUserId(text);
        const [{ total, active, lastAccessAt }, openRequests] = await Promise.all([
          summarisePerson(pool, userId),
          countApprovals(pool, userId, 'pending'),
        ]);
        if (total === 0 && openRequests === 0)
          throw notFound('Consent knows nothing of this person: no grant and no open request.');
        const counts = { activeGrants: active, endedGrants: total - active, openRequests };
        return toMessage(GetPersonResponseSchema, { ...counts, lastAccessAt });
      },
      // runOperatorCall has recorded it.
      announceRecordsRead: async () => ({}),
      async endPersonSessions({ userId }) {
        const subject = parseUserId(userId);
        await sessions.end({ tokenHash: null, sid: null, subject, endedAt: clock.now() });
        return {};
      },
      async listCompletedActs() {
        const completed = await acts.listCompleted(toCarriedIds());
        return { acts: completed.map((act) => toMessage(CompletedActSchema, act)) };
      },
    },
    {
      getPerson: SUPPORTERS,
      announceRecordsRead: [...SUPPORTERS, ...AUDITORS],
      endPersonSessions: SUPPORTERS,
      listCompletedActs: OPERATORS,
    },
  );
}
