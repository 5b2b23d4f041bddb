import type { DeveloperApp } from '../../api/resources.ts';
import { Card, Soft } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { toFirstCall } from './first-call-commands.ts';

/** The commands from authorization to data for this app. */
export function FirstCall({ app }: { readonly app: DeveloperApp }) {
  return (
    <Card label="The first call">
      <h2>The first call</h2>
      <Soft>Or use any OAuth client library: the code flow with PKCE works unchanged.</Soft>
      <Code text={toFirstCall(app, location.origin)} label="Commands for the first call" />
    </Card>
  );
}
