import { ENVIRONMENTS, type Environment } from '@phds/catalog/sandbox';
import { Soft, Stack } from '../../ui/card.tsx';
import { RadioChoice } from '../../ui/radio-choice.tsx';
import { text } from './texts.ts';

const TEXTS = {
  live: { name: 'live', effect: 'liveEffect' },
  sandbox: { name: 'sandbox', effect: 'sandboxEffect' },
} as const satisfies Record<Environment, object>;

/** Whether a new app works with people or with made-up ones. */
export function EnvironmentChoice({
  environment,
  onChange,
}: {
  readonly environment: Environment;
  readonly onChange: (environment: Environment) => void;
}) {
  return (
    <Stack tight>
      <RadioChoice
        label={text('environment')}
        choices={ENVIRONMENTS.map((id) => ({ id, text: text(TEXTS[id].name) }))}
        value={environment}
        onChange={(id) => onChange(ENVIRONMENTS.find((known) => known === id) ?? 'live')}
      />
      <Soft>{text(TEXTS[environment].effect)}</Soft>
    </Stack>
  );
}
