import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';

/** A file of deploy/postgres, as a deployment takes it. */
export function readDeployed(name: string): Promise<string> {
  return readFile(join(repositoryRoot, 'deploy/postgres', name), 'utf8');
}

/** Replaces each `${NAME}`. Throws if one has no value. */
export function fillIn(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{([A-Z0-9_]+)\}/g, (_placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for ${name}`);
    return value;
  });
}

/** The variables of an environment file; comments are left out. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}
