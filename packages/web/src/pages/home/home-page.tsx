import { Link } from 'wouter';
import { useWaitingApprovals } from '../../api/approvals.ts';
import type { PendingApproval } from '../../api/resources.ts';
import { isSignedOutHereOnly, useSession } from '../../api/session.ts';
import { signInUrl } from '../../api/sign-in.ts';
import { text as frameText } from '../../texts/frame.ts';
import { ButtonAnchor, ButtonLink } from '../../ui/button.tsx';
import { Card, Grid, Row, Stack } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Loading, Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import style from './home-page.module.css';
import { text } from './texts.ts';

/** The start page: what this service promises, requests that wait, and links to its pages. */
export function HomePage() {
  const session = useSession();
  return (
    <Resource query={session}>
      {(found) => (
        <>
          <PageHeading
            title={text('title')}
            lead={text('lead')}
            actions={
              found === null ? (
                <ButtonAnchor kind="primary" href={signInUrl()}>
                  {frameText('signIn')}
                </ButtonAnchor>
              ) : undefined
            }
          />
          <Stack>
            {found === null && isSignedOutHereOnly() ? <SignedOutHere /> : null}
            {found === null ? <Places /> : <WaitingAndPlaces />}
          </Stack>
        </>
      )}
    </Resource>
  );
}

function SignedOutHere() {
  return (
    <div role="alert">
      <Notice tone="warn">
        <strong>{text('signedOutHere')}</strong>
        <span>{text('signedOutHereText')}</span>
      </Notice>
    </div>
  );
}

/** The requests that wait for the person's decision, and below them the places, once it is known whether there are requests. */
function WaitingAndPlaces() {
  const waiting = useWaitingApprovals();
  if (waiting.isPending) return <Loading />;
  return (
    <>
      <Waiting approvals={waiting.data?.data ?? []} />
      <Places />
    </>
  );
}

function Waiting({ approvals }: { readonly approvals: readonly PendingApproval[] }) {
  return approvals.map(({ id, app, requestedScopes }) => (
    <Notice key={id} tone="warn">
      <Row between>
        <span>
          <strong>{text('waiting', { app: app.name })}</strong>{' '}
          {text('waitingWhat', { count: requestedScopes.length })}
        </span>
        <ButtonLink to={`/approve/${id}`}>{text('review')}</ButtonLink>
      </Row>
    </Notice>
  ));
}

function Places() {
  const places = [
    { path: '/apps', title: frameText('apps'), about: text('appsText') },
    { path: '/history', title: frameText('history'), about: text('historyText') },
    { path: '/data', title: frameText('data'), about: text('dataText') },
    { path: '/console', title: text('developersTitle'), about: text('developersText') },
  ];
  return (
    <Grid>
      {places.map(({ path, title, about }) => (
        <Card key={path}>
          <h2>
            <Link href={path} className={style['place']}>
              {title}
            </Link>
          </h2>
          <p>{about}</p>
        </Card>
      ))}
    </Grid>
  );
}
