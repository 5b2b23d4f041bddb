import { SANDBOX_PEOPLE, type SandboxPerson } from '@phds/catalog/sandbox';
import { Select } from '../../../ui/field.tsx';
import { text } from '../texts.ts';

/** The `login_hint` of a request that is to be denied. */
const DENY = 'deny';

/** Chooses the made-up person who is asked. */
export function PersonChoice({
  person,
  onChange,
}: {
  readonly person: string;
  readonly onChange: (person: string) => void;
}) {
  return (
    <Select
      label={text('askPerson')}
      value={person}
      onChange={onChange}
      options={[
        ...SANDBOX_PEOPLE.map((id) => ({
          id,
          text: text('personWithData', { name: id, data: text(PEOPLE_TEXTS[id]) }),
        })),
        { id: DENY, text: text('personDenies') },
      ]}
      hint={text('askPersonHint')}
    />
  );
}

/** The text about the data of each made-up person. */
export const PEOPLE_TEXTS = {
  ada: 'personAda',
  ben: 'personBen',
  cleo: 'personCleo',
  dora: 'personDora',
} as const satisfies Record<SandboxPerson, string>;
