import { Command } from 'commander';
import { checkOut, findLastMigration, giveMigrations } from './checkout.ts';
import { runMixes, type TestResult, testService } from './mixed-stack.ts';

/** The commit of the last release. */
const LAST_RELEASE = '0ec43fc0';

const WITH_SCHEMA = ['authorization', 'consent', 'health-data'];

const command = new Command('pnpm prove:versions')
  .description(
    'Proves that two releases work side by side: each service of the last release beside the new ones, and, for the last migration of each service, the code before it on the schema after it, and the code after it on the schema before it.',
  )
  .argument('[services...]', 'whose migrations to prove', WITH_SCHEMA)
  .option('--from <revision>', 'the last release', LAST_RELEASE)
  .option('--mixes-only', 'only the services side by side (about two minutes)', false)
  .option('--migrations-only', 'only the migrations', false)
  .addHelpText(
    'after',
    '\nThe code after a migration needs the schema after it, so tests fail on the schema before it; they are listed, and do not change the exit code.\nExit codes: 0 the last release works beside the new one, 1 it does not, 2 the proof did not run.',
  )
  .showHelpAfterError();

const say = (line: string) => console.log(`  ${line}`);

function print({ passed, failed }: TestResult): void {
  say(`${passed} tests passed, ${failed.length} failed`);
  for (const title of failed) say(`  failed: ${title}`);
}

/** Whether the code before the last migration works on the schema after it. */
async function proveMigration(service: string): Promise<boolean> {
  const { name, before } = await findLastMigration(service);
  console.log(`${service}: ${name}`);
  await using earlier = await checkOut(before, say);
  await giveMigrations(earlier, service);
  say(`code of ${earlier.revision} on the schema with the migration`);
  const onNewSchema = await testService(earlier, service);
  print(onNewSchema);
  await using current = await checkOut('HEAD', say);
  await giveMigrations(current, service, { without: name });
  say(`code of ${current.revision} on the schema without the migration`);
  print(await testService(current, service));
  return onNewSchema.failed.length === 0;
}

async function prove(): Promise<boolean> {
  const { from, mixesOnly, migrationsOnly } = command.opts<Record<string, string | boolean>>();
  let holds = true;
  if (migrationsOnly !== true) {
    console.log('services side by side');
    await using earlier = await checkOut(String(from), say);
    const failures = await runMixes(earlier, say);
    for (const failure of failures) console.log(`VIOLATION ${failure}`);
    holds = failures.length === 0;
  }
  if (mixesOnly !== true) {
    const services = command.processedArgs[0] as readonly string[];
    for (const service of services) holds = (await proveMigration(service)) && holds;
  }
  return holds;
}

try {
  command.parse();
  process.exitCode = (await prove()) ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
