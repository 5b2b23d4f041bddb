import { privateKey, readConfig } from '@phds/service-kit/settings/config';
import { CALLER_NAME, createServiceTokenSource, toServiceCaller } from '@phds/service-kit/trust/callers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE } from './command.ts';

/** The settings of `phds service-token`. */
export const serviceTokenSettings = z.object({
  SERVICE_PRIVATE_KEY: privateKey('must be set').describe('Private key of the service.'),
});

/** Adds `phds service-token`. */
export function addServiceToken(program: Command, { finish, env, output }: Surrounded): void {
  program
    .command('service-token')
    .description(
      'Prints a token with which a service calls another for five minutes (docs/internal-services.md).',
    )
    .argument('<name>', 'name of the service, without service:', parseName)
    .addOption(
      new Option('--for <service>', 'the called service')
        .choices(['authorization', 'consent', 'health-data'])
        .makeOptionMandatory(),
    )
    .action(async (name: string, { for: audience }: { for: string }) => {
      const { SERVICE_PRIVATE_KEY: privateKeyPem } = readConfig(serviceTokenSettings, env);
      const tokens = createServiceTokenSource({ service: toServiceCaller(name), privateKeyPem });
      output.write(`${await tokens(audience)}\n`);
      finish(EXIT_DONE);
    });
}

function parseName(value: string): string {
  if (CALLER_NAME.test(value)) return value;
  throw new InvalidArgumentError(
    'It must be 1 to 64 lower case letters, digits, dots, hyphens and underscores.',
  );
}
