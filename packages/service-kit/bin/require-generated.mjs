/** Loaded before commands that run services from their sources (`node --import`): says what to run when generated code is missing. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const services = resolve(import.meta.dirname, '../../../services');
const missing = readdirSync(services).filter(
  (name) =>
    existsSync(join(services, name, 'prisma/schema.prisma')) &&
    !existsSync(join(services, name, 'src/store/generated/client.ts')),
);
if (missing.length > 0) {
  console.error(
    `The database clients of ${missing.join(', ')} are not generated yet. Run first: pnpm gen:prisma`,
  );
  process.exit(1);
}
