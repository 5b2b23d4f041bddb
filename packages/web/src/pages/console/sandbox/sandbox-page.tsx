import { Link } from 'wouter';
import { useApp } from '../../../api/developer-apps.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Row, Stack } from '../../../ui/card.tsx';
import { PageHeading } from '../../../ui/layout.tsx';
import { EmptyPage } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { NoApp } from '../no-app.tsx';
import { ForcedErrors } from './forced-errors.tsx';
import { People } from './people.tsx';
import { Rich, text } from './texts.ts';
import { Triggers } from './triggers.tsx';

/** What a developer can rehearse with a sandbox app: its people, what happens to their connections, and errors. */
export function SandboxPage({ clientId }: { readonly clientId: string }) {
  const app = useApp(clientId);
  return (
    <Resource query={app} notFound={<NoApp />}>
      {({ name, environment }) =>
        environment === 'live' ? (
          <LiveApp clientId={clientId} name={name} />
        ) : (
          <>
            <PageHeading
              title={text('title')}
              lead={
                <Rich
                  id="lead"
                  values={{ app: name }}
                  components={{ link: <Link href={`/console/${clientId}`} /> }}
                />
              }
            />
            <Stack>
              <People />
              <Triggers clientId={clientId} />
              <ForcedErrors />
            </Stack>
          </>
        )
      }
    </Resource>
  );
}

function LiveApp({ clientId, name }: { readonly clientId: string; readonly name: string }) {
  return (
    <EmptyPage title={text('liveApp', { app: name })}>
      <p>{text('liveAppAdvice')}</p>
      <Row>
        <ButtonLink to="/console/new" kind="primary">
          {text('register')}
        </ButtonLink>
        <ButtonLink to={`/console/${clientId}`}>{text('openApp', { app: name })}</ButtonLink>
      </Row>
    </EmptyPage>
  );
}
