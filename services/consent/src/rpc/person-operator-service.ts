import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import { CompletedActSchema, PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import type { Clock } from '@phds/service-kit/clock';
import { toCarriedIds } from '@phds/service-kit/current-work';
import { notFound } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { toMessage } from '@phds/service-kit/rpc/rows';
import { implement } from '@phds/service-kit/rpc/service';
import { AUDITORS, OPERATORS, SUPPORTERS } from '@phds/service-kit/trust/callers';
import type { Approvals } from '../approvals.ts';
import type { Grants } from '../grants.ts';
import type { OperatorActs } from '../operator-acts.ts';
import type { Sessions } from '../sessions.ts';

const PAGE_SIZE = 100;

/** phds.consent.v1.PersonOperatorService. */
export function createPersonOperatorService({
  grants,
  approvals,
  sessions,
  acts,
  clock,
}: {
  readonly grants: Pick<Grants, 'list'>;
  readonly approvals: Pick<Approvals, 'list'>;
  readonly sessions: Pick<Sessions, 'end'>;
  readonly acts: Pick<OperatorActs, 'listCompleted'>;
  readonly clock: Clock;
}) {
  /** How many grants the person had, and the last read of any. */
  async function summarise(userId: string): Promise<{ total: number; last: Date | null }> {
    let last: Date | null = null;
    for (let page = 1; ; page += 1) {
      const { items, total } = await grants.list(userId, null, toPage({ page, pageSize: PAGE_SIZE }));
      for (const { lastAccessAt: at = null } of items)
        if (at !== null && (last === null || at > last)) last = at;
      if (page * PAGE_SIZE >= total) return { total, last };
    }
  }

  // For a number without its items, which each need counts of reads.
  const ONE = toPage({ page: 1, pageSize: 1 });
  return implement(
    PersonOperatorService,
    {
      async getPerson({ userId: text }) {
        const userId = parseUserId(text);
        const [{ total, last }, active, open] = await Promise.all([
          summarise(userId),
          grants.list(userId, 'active', ONE),
          approvals.list(userId, 'pending', ONE),
        ]);
        if (total === 0 && open.total === 0)
          throw notFound('Consent knows nothing of this person: no grant and no open request.');
        return {
          activeGrants: active.total,
          endedGrants: total - active.total,
          openRequests: open.total,
          ...(last !== null && { lastAccessAt: timestampFromDate(last) }),
        };
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
