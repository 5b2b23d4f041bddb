import { useRepeatedDecision } from '../../api/approvals.ts';
import { isRefusal, Problem } from '../../api/problem.ts';
import type { ApprovedTerms, Connection, PendingApproval } from '../../api/resources.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, Facts, Row, Stack } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { EmptyPage, ErrorNotice, Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, Instant } from '../../ui/time.tsx';
import { goesOnText } from './connection-changes.tsx';
import { text } from './texts.ts';

const ENDINGS = {
  denied: { title: 'deniedTitle', why: 'deniedText' },
  expired: { title: 'expiredTitle', why: 'expiredText' },
  cancelled: { title: 'cancelledTitle', why: 'cancelledText' },
} as const;

/** A request that can no longer be decided. After a decision, the way back to the app remains. */
export function EndedRequest({ approval }: { readonly approval: PendingApproval }) {
  const { status, app, approved, connection } = approval;
  if (status === 'pending') return null;
  if (status === 'approved' && approved !== undefined) {
    return connection === null ? (
      <EmptyPage title={text('stoppedTitle', { app: app.name })}>
        <p>{text('stoppedText', { app: app.name })}</p>
        <ButtonLink to="/apps">{text('apps')}</ButtonLink>
      </EmptyPage>
    ) : (
      <Sharing approval={approval} approved={approved} connection={connection} />
    );
  }
  if (status === 'approved') return null;
  const { title, why } = ENDINGS[status];
  return (
    <EmptyPage title={text(title, { app: app.name })}>
      <p>{text(why, { app: app.name })}</p>
      {connection === null || status === 'cancelled' ? null : (
        <p>{text('keepsReading', goesOnText(app.name, connection))}</p>
      )}
      {status === 'denied' ? (
        <WayBack approval={approval} terms={null} label={text('returnToApp', { app: app.name })} />
      ) : null}
      <ButtonLink to="/apps">{text('apps')}</ButtonLink>
    </EmptyPage>
  );
}

/** What the person shares with the app after the approval. */
function Sharing({
  approval,
  approved,
  connection: { grantId, scopes, expiresAt, dataFrom },
}: {
  readonly approval: PendingApproval;
  readonly approved: ApprovedTerms;
  readonly connection: Connection;
}) {
  const { app } = approval;
  return (
    <>
      <PageHeading
        title={text('sharingTitle', { app: app.name })}
        lead={text('sharingText', { app: app.name })}
      />
      <Stack>
        <Card label={text('whatYouShare')}>
          <Facts
            facts={[
              [text('canRead'), formatList(scopes.map(scopeTitle))],
              [text('until'), <Instant key="until" at={expiresAt} />],
              [text('goingBack'), dataFrom === null ? text('everything') : formatDate(dataFrom)],
            ]}
          />
        </Card>
        <WayBack approval={approval} terms={approved} label={text('continueTo', { app: app.name })} />
        <Row>
          <ButtonLink to={`/apps/${grantId}`}>{text('details')}</ButtonLink>
          <ButtonLink to="/apps">{text('apps')}</ButtonLink>
        </Row>
      </Stack>
    </>
  );
}

/** Repeats the decision to get the redirect to the app. */
function WayBack({
  approval: { id, app },
  terms,
  label,
}: {
  readonly approval: PendingApproval;
  readonly terms: ApprovedTerms | null;
  readonly label: string;
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
          {label}
        </Button>
      </Row>
      {error === null ? null : <NoWayBack error={error} app={app.name} />}
      {data?.redirectUri === null ? (
        <Notice role="alert" tone="warn" title={text('noAddress', { app: app.name })}>
          {text('goBackYourself', { app: app.name })}
        </Notice>
      ) : null}
    </>
  );
}

function NoWayBack({ error, app }: { readonly error: unknown; readonly app: string }) {
  if (error instanceof Problem && error.code === 'ALREADY_DECIDED') {
    return (
      <Notice role="alert" tone="warn" title={text('usedAlready', { app })}>
        {text('usedAlreadyAdvice', { app })}
      </Notice>
    );
  }
  return (
    <ErrorNotice error={error} title={isRefusal(error) ? text('notReachable', { app }) : text('unknown')} />
  );
}
