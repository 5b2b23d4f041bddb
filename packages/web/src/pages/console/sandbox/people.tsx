import { SANDBOX_PEOPLE } from '@phds/catalog/sandbox';
import { Link } from 'wouter';
import { Card, Facts, Row, Soft } from '../../../ui/card.tsx';
import { PEOPLE_TEXTS } from '../sandbox-people.ts';
import { text as consoleText } from '../texts.ts';
import { Rich, text } from './texts.ts';

/** The made-up people of an app, and how to ask them. */
export function People() {
  return (
    <Card label={text('people')}>
      <h2>{text('people')}</h2>
      <Soft>
        <Rich id="peopleText" components={{ hint: <code />, deny: <code /> }} />
      </Soft>
      <Facts facts={SANDBOX_PEOPLE.map((id) => [id, consoleText(PEOPLE_TEXTS[id])])} />
      <Row>
        <Link href="/console/test-run">{text('tryFlow')}</Link>
      </Row>
    </Card>
  );
}
