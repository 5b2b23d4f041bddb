import { Link } from 'wouter';
import { useWaitingApprovals } from '../../api/approvals.ts';
import { isSignedOutHereOnly, useSession } from '../../api/session.ts';
import { signInUrl } from '../../api/sign-in.ts';
import { ButtonAnchor, ButtonLink } from '../../ui/button.tsx';
import { Card, Grid, Row, Stack } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';

/** The start page: what this service promises, and links to its pages. */
export function HomePage() {
  const session = useSession();
  return (
    <Resource query={session}>
      {(found) => (
        <>
          <PageHeading
            title="Your health data, shared on your terms"
            lead="Apps read your health data only when you say so, only what you say, and only as long as you say. Every look is written down for you."
            actions={
              found === null ? (
                <ButtonAnchor kind="primary" href={signInUrl()}>
                  Sign in
                </ButtonAnchor>
              ) : undefined
            }
          />
          <Stack>
            {found === null ? null : <Waiting />}
            {found === null && isSignedOutHereOnly() ? <SignedOutHere /> : null}
            <Places />
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
        <strong>You are signed out in this browser.</strong>
        <span>
          We could not find out whether your session has also ended everywhere else. If somebody has a copy of
          it, it works until it expires, within 24 hours.
        </span>
      </Notice>
    </div>
  );
}

function Waiting() {
  const waiting = useWaitingApprovals();
  const approvals = waiting.data?.data ?? [];
  return approvals.map(({ id, app }) => (
    <Notice key={id} tone="warn">
      <Row between>
        <strong>{app.name} waits for your decision.</strong>
        <ButtonLink to={`/approve/${id}`}>Decide</ButtonLink>
      </Row>
    </Notice>
  ));
}

const PLACES = [
  {
    path: '/apps',
    title: 'Connected apps',
    text: 'Who may read what of your data, until when. Give less, or stop.',
  },
  { path: '/history', title: 'Access history', text: 'Who read what, when and how much. Every single time.' },
  { path: '/data', title: 'My data', text: 'See what an app would see before you share it.' },
  { path: '/console', title: 'For developers', text: 'Register an app, try the flow, watch its usage.' },
] as const;

function Places() {
  return (
    <Grid>
      {PLACES.map(({ path, title, text }) => (
        <Card key={path}>
          <h2>
            <Link href={path}>{title}</Link>
          </h2>
          <p>{text}</p>
        </Card>
      ))}
    </Grid>
  );
}
