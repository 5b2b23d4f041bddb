import { usePendingApproval } from '../../api/approvals.ts';
import { useLivingGrants } from '../../api/grants.ts';
import type { Grant, PendingApproval } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Narrow } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { EndedRequest } from './ended-request.tsx';

/** The approval screen: the app, its request, and the decision. */
export function ApprovalPage({ id }: { readonly id: string }) {
  const pending = usePendingApproval(id);
  const living = useLivingGrants();
  return (
    <Narrow isCentred>
      <Resource query={pending} notFound={<NoRequest />}>
        {(approval) =>
          approval.status === 'pending' ? (
            <Resource query={living}>
              {(grants) => <ApprovalForm approval={approval} grant={findGrant(grants, approval)} />}
            </Resource>
          ) : (
            <EndedRequest approval={approval} />
          )
        }
      </Resource>
    </Narrow>
  );
}

function findGrant(grants: readonly Grant[], { app }: PendingApproval): Grant | null {
  return grants.find((grant) => grant.app.clientId === app.clientId) ?? null;
}

function NoRequest() {
  return (
    <EmptyPage title="This request is not available">
      <p>It may have expired, or it belongs to another account. Start again in the app.</p>
      <ButtonLink to="/apps">Connected apps</ButtonLink>
    </EmptyPage>
  );
}
