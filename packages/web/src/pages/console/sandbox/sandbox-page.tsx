import { errorsOfEndpoint } from '@phds/catalog/data-errors';
import { getEndpoint } from '@phds/catalog/endpoints';
import { PROBLEM_CODES, type ProblemCode } from '@phds/catalog/problems';
import { SANDBOX_PEOPLE, type SandboxPerson } from '@phds/catalog/sandbox';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApp } from '../../../api/developer-apps.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Card, Facts, Row, Soft, Stack } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Select } from '../../../ui/field.tsx';
import { PageHeading } from '../../../ui/layout.tsx';
import { EmptyPage } from '../../../ui/notice.tsx';
import { Resource } from '../../../ui/resource.tsx';
import { linkTo } from '../../../ui/web-link.tsx';
import { NoApp } from '../no-app.tsx';
import { text as consoleText } from '../texts.ts';
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

/** The text about the data of each made-up person. */
const PEOPLE_TEXTS = {
  ada: 'personAda',
  ben: 'personBen',
  cleo: 'personCleo',
  dora: 'personDora',
} as const satisfies Record<SandboxPerson, string>;

/** The made-up people of an app, and how to ask them. */
function People() {
  return (
    <Card label={text('people')}>
      <h2>{text('people')}</h2>
      <Soft>
        <Rich id="peopleText" components={{ hint: <code />, deny: <code /> }} />
      </Soft>
      <Facts facts={SANDBOX_PEOPLE.map((id) => [id, consoleText(PEOPLE_TEXTS[id])])} />
    </Card>
  );
}

/** Codes that come from the token endpoint only. */
const OF_TOKENS: ReadonlySet<ProblemCode> = new Set([
  'INVALID_GRANT',
  'INVALID_SCOPE',
  'UNSUPPORTED_GRANT_TYPE',
  'UNAUTHORIZED_CLIENT',
]);

/** What the command's two endpoints can answer. */
const CODES = PROBLEM_CODES.filter(
  (code) => OF_TOKENS.has(code) || errorsOfEndpoint(getEndpoint('health-data')).includes(code),
);

/** How to rehearse an error: the header field that makes the service answer with it. */
function ForcedErrors() {
  const [code, setCode] = useState<ProblemCode>('RATE_LIMITED');
  return (
    <Card label={text('errors')}>
      <h2>{text('errors')}</h2>
      <Soft>
        <Rich id="errorsText" components={{ field: <code />, ...linkTo('/problems') }} />
      </Soft>
      <Select
        label={text('code')}
        value={code}
        onChange={(id) => setCode(CODES.find((known) => known === id) ?? 'RATE_LIMITED')}
        options={CODES.map((id) => ({ id, text: id }))}
      />
      <Code label={text('command')} text={toCommand(code, location.origin)} />
    </Card>
  );
}

function toCommand(code: ProblemCode, origin: string): string {
  const field = `-H "Sandbox-Force: ${code}"`;
  if (OF_TOKENS.has(code)) {
    return `curl -i ${origin}/oauth/token ${field} \\
  -d grant_type=client_credentials -d client_id="$CLIENT_ID" -d client_secret="$CLIENT_SECRET"`;
  }
  return `curl -i ${origin}/api/v1/health-data/heart ${field} \\
  -H "Authorization: Bearer $ACCESS_TOKEN"`;
}
