import { isSandboxApp } from '@phds/catalog/sandbox';
import { findScope } from '@phds/catalog/scopes';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { answerOf, api } from '../../../api/client.ts';
import type { Tokens } from '../../../api/resources.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { useFocusOnAppearance } from '../../../ui/focus.ts';
import { ErrorNotice, Notice } from '../../../ui/notice.tsx';
import { Rich, text } from '../texts.ts';

/** Step 3: the token is used to read, and the access appears in the history. */
export function ReadStep({ tokens, clientId }: { readonly tokens: Tokens; readonly clientId: string }) {
  const [scope = ''] = tokens.scope.split(' ');
  const path = findScope(scope)?.endpoints[0] ?? '/api/v1/profile';
  const reading = useMutation({
    mutationFn: (): Promise<unknown> => {
      const headers = { Authorization: `Bearer ${tokens.access_token}` };
      // The type of the answer does not matter, because the page shows it as it is.
      return answerOf(api.GET(path as '/api/v1/profile', { headers }));
    },
  });
  const appeared = useFocusOnAppearance();
  return (
    <Card label={text('readStep')}>
      <h2 ref={appeared} tabIndex={-1}>
        {text('readStep')}
      </h2>
      <Soft>
        <Rich id="readDetail" values={{ path }} components={{ request: <code /> }} />
      </Soft>
      <Row>
        <Button kind="primary" onPress={() => reading.mutate()} isBusy={reading.isPending}>
          {text('read')}
        </Button>
      </Row>
      {reading.error === null ? null : (
        <ErrorNotice error={reading.error} title={text('readFailed')} isOwn={false} />
      )}
      {reading.data === undefined ? null : (
        <>
          <Code label={text('answer')} text={JSON.stringify(reading.data, null, 2)} />
          <AfterRead answer={reading.data} grantId={tokens.grant_id ?? ''} clientId={clientId} />
        </>
      )}
    </Card>
  );
}

/** Where to go on: for a person without data to people who have some, for a sandbox app to what can happen next. */
function AfterRead({
  answer,
  grantId,
  clientId,
}: {
  readonly answer: unknown;
  readonly grantId: string;
  readonly clientId: string;
}) {
  if (isSandboxApp(clientId)) {
    return (
      <p>
        <Rich id="readSandbox" components={{ link: <Link href={`/console/${clientId}/sandbox`} /> }} />
      </p>
    );
  }
  return (
    <>
      {isEmptyList(answer) ? (
        <Notice>
          <span>
            <Rich id="readEmpty" components={{ link: <Link href="/console/new" /> }} />
          </span>
        </Notice>
      ) : null}
      <p>
        <Rich id="readLogged" components={{ link: <Link href={`/apps/${grantId}`} /> }} />
      </p>
    </>
  );
}

function isEmptyList(answer: unknown): boolean {
  const { data } = (answer ?? {}) as { readonly data?: unknown };
  return Array.isArray(data) && data.length === 0;
}
