import { usePendingApproval } from '../../api/approvals.ts';
import { useLivingGrants } from '../../api/grants.ts';
import type { Grant, PendingApproval } from '../../api/resources.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Narrow } from '../../ui/layout.tsx';
import { EmptyPage } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { ApprovalForm } from './approval-form.tsx';

const WHAT = 'what the app asks for';

/** The approval screen: who asks for what, and the decision. */
export function ApprovalPage({ id }: { readonly id: string }) {
  const pending = usePendingApproval(id);
  const living = useLivingGrants();
  return (
    <Narrow isCentred>
      <Resource query={pending} what={WHAT} notFound={<NoRequest />}>
        {(approval) =>
          approval.status === 'pending' ? (
            <Resource query={living} what={WHAT}>
              {(grants) => <ApprovalForm approval={approval} grant={findGrant(grants, approval)} />}
            </Resource>
          ) : (
            <Ended approval={approval} />
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
    <EmptyPage title="There is no such request">
      <p>
        It may be over, or somebody else is deciding about it. Nothing was shared. Start again in the app.
      </p>
      <ButtonLink to="/apps">Connected apps</ButtonLink>
    </EmptyPage>
  );
}

const ENDINGS = {
  approved: {
    title: 'You have approved this request',
    text: 'You can go back to the app. What you share with it, and when it looked, is on your pages.',
  },
  denied: { title: 'You did not share anything', text: 'You have refused this request. Nothing was shared.' },
  expired: {
    title: 'The time to decide is over',
    text: 'A request waits for ten minutes. Nothing was shared; start again in the app.',
  },
  cancelled: {
    title: 'The app is no longer active',
    text: 'Its maker or this service has ended it. Nothing was shared.',
  },
} as const;

function Ended({ approval: { status, app } }: { readonly approval: PendingApproval }) {
  if (status === 'pending') return null;
  const { title, text } = ENDINGS[status];
  return (
    <EmptyPage title={title}>
      <p>
        {app.name} asked. {text}
      </p>
      <ButtonLink to="/apps">Connected apps</ButtonLink>
    </EmptyPage>
  );
}
