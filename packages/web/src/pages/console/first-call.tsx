import type { DeveloperApp } from '../../api/resources.ts';
import { Card, Soft } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { toFirstCall } from './first-call-commands.ts';
import { text } from './texts.ts';

/** The commands from authorization to data for this app. */
export function FirstCall({ app }: { readonly app: DeveloperApp }) {
  return (
    <Card label={text('firstCall')}>
      <h2>{text('firstCall')}</h2>
      <Soft>{text('firstCallAdvice')}</Soft>
      <Code text={toFirstCall(app, location.origin)} label={text('commands')} />
    </Card>
  );
}
