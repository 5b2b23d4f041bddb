import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { reportBeside } from './beside.ts';
import type { Side } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';

/** Reports pages of the newest 50 heart readings as Observations, beside the same rows of the data API. */
export async function benchFhir(options: Options): Promise<string> {
  await using prepared = await prepareStack('bench', options);
  const { side } = prepared;
  const lines = readFileSync(side.job.requestsFile, 'utf8').split('\n');
  const reading = (name: string, path: string): Side => {
    const requestsFile = join(dirname(side.job.requestsFile), `${name}-pages.txt`);
    writeFileSync(requestsFile, lines.map((line) => line.replace(/^\S+/, path)).join('\n'));
    return { ...side, job: { ...side.job, requestsFile } };
  };
  const sides = {
    api: reading('api', '/api/v1/health-data/heart?pageSize=50'),
    fhir: reading('fhir', '/fhir/R4/Observation?category=heart&_count=50'),
  };
  return await reportBeside(sides, options.rounds);
}
