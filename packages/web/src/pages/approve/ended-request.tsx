import { useRepeatedDecision } from '../../api/approvals.ts';
import { isRefusal, Problem } from '../../api/problem.ts';
import type { ApprovedTerms, PendingApproval } from '../../api/resources.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Row } from '../../ui/card.tsx';
import { EmptyPage, ErrorNotice, Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';

const ENDINGS = {
  approved: {
    title: 'You approved this request',
    text: 'If the app is still waiting, continue to it. What you share with it, and when it looked, is under “Connected apps”.',
  },
  denied: {
    title: 'You did not share anything',
    text: 'You declined this request. If the app is still waiting, return to it.',
  },
  expired: {
    title: 'The time to decide is over',
    text: 'A request waits for ten minutes. Nothing was shared; start again in the app.',
  },
  cancelled: {
    title: 'The app is no longer active',
    text: 'Its maker or this service has ended it. Nothing was shared.',
  },
} as const;

/** A request that can no longer be decided. After a decision, the redirect to the app remains available. */
export function EndedRequest({ approval }: { readonly approval: PendingApproval }) {
  const { status, app, approved } = approval;
  if (status === 'pending') return null;
  const { title, text } = ENDINGS[status];
  return (
    <EmptyPage title={title}>
      <p>
        {app.name} asked
        {approved === undefined ? '' : `, and you chose: ${approved.scopes.map(scopeTitle).join(', ')}`}.{' '}
        {text}
      </p>
      {approved === undefined ? null : (
        <WayBack approval={approval} terms={approved} text={`Continue to ${app.name}`} />
      )}
      {status === 'denied' ? (
        <WayBack approval={approval} terms={null} text={`Return to ${app.name}`} />
      ) : null}
      <ButtonLink to="/apps">Connected apps</ButtonLink>
    </EmptyPage>
  );
}

/** Repeats the decision to get the redirect to the app. */
function WayBack({
  approval: { id, app },
  terms,
  text,
}: {
  readonly approval: PendingApproval;
  readonly terms: ApprovedTerms | null;
  readonly text: string;
}) {
  const decision = useRepeatedDecision(id);
  const goOn = () =>
    decision.mutate(terms, {
      onSuccess: ({ redirectUri }) => {
        if (redirectUri !== null) location.assign(redirectUri);
      },
    });
  const { error, data } = decision;
  return (
    <>
      <Row>
        <Button
          kind="primary"
          isBusy={decision.isPending || typeof data?.redirectUri === 'string'}
          onPress={goOn}
        >
          {text}
        </Button>
      </Row>
      {error === null ? null : <NoWayBack error={error} name={app.name} />}
      {data?.redirectUri === null ? <RemovedWayBack name={app.name} /> : null}
    </>
  );
}

function RemovedWayBack({ name }: { readonly name: string }) {
  return (
    <div role="alert">
      <Notice tone="warn">
        <strong>{name} has removed the address it gave us for the answer.</strong>
        <span>Your decision stands. Go back to {name} yourself.</span>
      </Notice>
    </div>
  );
}

function NoWayBack({ error, name }: { readonly error: unknown; readonly name: string }) {
  if (error instanceof Problem && error.code === 'ALREADY_DECIDED') {
    return (
      <div role="alert">
        <Notice tone="warn">
          <strong>{name} has used this approval already, or its time is over.</strong>
          <span>Go back to {name}. If it is not connected there, start again in it.</span>
        </Notice>
      </div>
    );
  }
  const title = isRefusal(error) ? `${name} cannot be reached from here.` : 'No answer came.';
  return <ErrorNotice error={error} title={title} />;
}
