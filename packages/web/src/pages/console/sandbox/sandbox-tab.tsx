import { errorsOfEndpoint } from '@phds/catalog/data-errors';
import { getEndpoint } from '@phds/catalog/endpoints';
import { PROBLEM_CODES, type ProblemCode } from '@phds/catalog/problems';
import { useState } from 'react';
import type { DeveloperApp } from '../../../api/resources.ts';
import { Card, Soft } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Select } from '../../../ui/field.tsx';
import { linkTo } from '../../../ui/web-link.tsx';
import { Rich, text } from '../texts.ts';
import { Triggers } from './triggers.tsx';

/** What a developer can rehearse in a sandbox deployment: its people, what happens to their connections, and errors. */
export function Sandbox({ app: { clientId } }: { readonly app: DeveloperApp }) {
  return (
    <>
      <Soft>{text('sandboxLead')}</Soft>
      <People />
      <Triggers clientId={clientId} />
      <ForcedErrors />
    </>
  );
}

/** Who the made-up people are. */
function People() {
  return (
    <Card label={text('people')}>
      <h2>{text('people')}</h2>
      <Soft>
        <Rich id="peopleText" components={{ sparse: <code />, empty: <code /> }} />
      </Soft>
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
        label={text('sandboxCode')}
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
