// Each check is made live, of a saved cluster and of a redacted one: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { allChecks } from '../../src/lib/checks/check-run.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import type { CheckDocument } from '../../src/lib/output/views/check-report.ts'
import {
  type CheckExample,
  checkExample,
  clusterOf,
  files,
  isProbing,
  type Judged,
  judgedExample,
  layered,
  otherFindings,
  wordsOf,
} from '../lib/checks/check-example.ts'
import { type Place, runText } from '../lib/run-text.ts'
import { isEvery, shuffled } from '../scenario/killed.ts'

/** Redacted as well: of some checks, drawn by the seed; what redaction does to an object it does to all of its kind. */
const redacted: ReadonlySet<string> = new Set(
  shuffled(allChecks, ({ id }) => id)
    .slice(0, isEvery ? undefined : 20)
    .map(({ id }) => id),
)
const examples: readonly (readonly [name: string, example: CheckExample])[] = [
  ['everything passes', {}],
  ...allChecks.map(({ id }) => [id, checkExample(`${id}/failing.json`)] as const),
  ...otherFindings()
    .filter(([, , , { cluster }]) => cluster !== layered.cluster)
    .map(([check, is, , example]) => [`${check}: ${is}`, example] as const),
]

/** Of a file that lacks something it is said what would have saved it; a cluster that lives has nothing to be saved. */
const withoutSaving = <T>(judged: T): T =>
  JSON.parse(JSON.stringify(judged), (key, value: unknown) => {
    if (!Array.isArray(value)) return value
    // What asks again asks of the same file.
    if (key === 'next') return value.map((line) => String(line).replace(' --from -', ''))
    return key === 'remedy'
      ? value
          .filter((line) => !String(line).startsWith('kvup snapshot --to-file cluster.ndjson.gz '))
          .map((line) => String(line).replace(' --from -', ''))
      : value
  }) as T

/** Rights, the version of the API server and what is not served are in the file as well; redacted, only names are other ones. */
test.each(examples.filter(([, example]) => !isProbing(example)))(
  'judged from what kvup snapshot saved as it was live: %s',
  async (name, example) => {
    const live = await judgedExample({ ...example, alerts: 'unasked' })
    const place = { ...clusterOf(example), files }
    expect(withoutSaving(await judgedFromSaved(example, place))).toEqual(live)
    if (!redacted.has(name)) return
    const hidden = await judgedFromSaved(example, place, '--redact')
    expect([hidden.code, saidIn(hidden)]).toEqual([live.code, saidIn(live)])
  },
)

async function judgedFromSaved(example: CheckExample, place: Place, ...flags: string[]): Promise<Judged> {
  const saved = await runText(['snapshot', '-o', 'json', ...flags], place)
  const { items } = JSON.parse(saved.out) as { items: KubeObject[] }
  const stdin = items.map((item) => JSON.stringify(item)).join('\n')
  const { code, out } = await runText([...wordsOf(example), '--from', '-', '-o', 'json'], { ...place, stdin })
  return { code, document: JSON.parse(out) as CheckDocument }
}

const saidIn = ({ document: { items } }: Judged) =>
  items.flatMap(({ id, findings }) => findings.map((finding) => `${id}: ${finding.level} ${finding.id}`))
