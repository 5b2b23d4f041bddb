import { findScope } from '@phds/catalog/scopes';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { get } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { useFocusOnAppearance } from '../../../ui/focus.ts';
import { ErrorNotice } from '../../../ui/notice.tsx';
import type { Tokens } from './token-step.tsx';

/** Step 3: the token is used to read, and the access appears in the history. */
export function ReadStep({ tokens }: { readonly tokens: Tokens }) {
  const [scope = ''] = tokens.scope.split(' ');
  const path = findScope(scope)?.endpoints[0] ?? '/api/v1/profile';
  const reading = useMutation({
    mutationFn: () => get<unknown>(path, {}, { Authorization: `Bearer ${tokens.access_token}` }),
  });
  const appeared = useFocusOnAppearance();
  return (
    <Card label="Step 3: read">
      <h2 ref={appeared} tabIndex={-1}>
        3. Read
      </h2>
      <Soft>
        <code>GET {path}</code> with the access token.
      </Soft>
      <Row>
        <Button kind="primary" onPress={() => reading.mutate()} isBusy={reading.isPending}>
          Read
        </Button>
      </Row>
      {reading.error === null ? null : (
        <ErrorNotice error={reading.error} title="The read did not work." isOwn={false} />
      )}
      {reading.data === undefined ? null : (
        <>
          <Code label="The answer" text={JSON.stringify(reading.data, null, 2)} />
          <p>
            This read is on record: see{' '}
            <Link href={`/apps/${tokens.grant_id}`}>the connection as its person</Link>, and stop sharing
            there to see the next read fail.
          </p>
        </>
      )}
    </Card>
  );
}
