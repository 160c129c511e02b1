import { type Place, runText } from '../run-text.ts'

/** Runs a whole command line in this process, and gives what it printed on stdout, parsed, line by line for ndjson. */
export async function runKvup(argv: readonly string[], place: Place) {
  const { code, out } = await runText(argv, place)
  return { code, documents: parsed(out, argv.includes('ndjson')) }
}

function parsed(out: string, byLine: boolean): { kind: string }[] {
  const texts = byLine ? out.trimEnd().split('\n') : [out]
  return texts.map((text) => JSON.parse(text) as { kind: string })
}
