import { Writable } from 'node:stream';

/** The streams of a command that runs in the process of its test. */
export function collectOutput() {
  const texts = { stdout: '', stderr: '' };
  const collect = (name: keyof typeof texts) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        texts[name] += String(chunk);
        done();
      },
    });
  return { output: collect('stdout'), errors: collect('stderr'), texts };
}
