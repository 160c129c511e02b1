import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { openCluster } from '../../src/lib/kube/http/http-cluster.ts'
import type { FieldChange } from '../../src/lib/kube/field-changes.ts'
import { applyManifest, isApplied, liveOf, manifestChanges } from '../../src/lib/manifests/apply-manifest.ts'
import { operatorManifest as manifestOf, parseManifest } from '../../src/lib/manifests/manifest.ts'
import { manifestDiff } from '../../src/lib/manifests/manifest-diff.ts'
import { Recording, dryRunningBy } from '../../src/lib/engine/procedure-dry-run.ts'
import { changedFields } from '../../src/lib/engine/dry-run-change.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { type Lab, operatorManifest, startLab } from './lab.ts'

let lab: Lab
let cluster: Cluster

beforeAll(async () => {
  lab = await startLab({ name: 'dry-run', workers: 1 })
  const tools = { clock: systemClock, random: Math.random, env: {}, onWarning: () => {}, verbosity: 0 }
  cluster = await openCluster({ kubeconfig: lab.kubeconfig }, { ...tools, userAgent: 'kvup/dry-run' })
})
afterAll(() => lab.stop())

const [before, after] = [operatorManifest('v1.7.0'), operatorManifest('v1.8.4')]

test.each([['apply'], ['apply --server-side'], ['create']])(
  'a manifest over what kubectl %s has made: both dry runs are what the apply then does, and they keep nothing',
  async (how) => {
    await lab.kubectl(['delete', '--ignore-not-found', '-f', after])
    await lab.kubectl([...how.split(' '), '-f', before])
    const { objects } = manifestOf(parseManifest(await readFile(after, 'utf8'), after), after)
    const live = () => Promise.all(objects.map((object) => liveOf(cluster.reader, object)))
    const was = await live()
    const told = [await dryRunSteps('client'), await dryRunSteps('server')]
    expect(told.every((lines) => lines.length > 5)).toBe(true)
    const unmoved = await live()
    expect(
      was.flatMap((object, index) => linesOf(object?.kind, changedFields(object, unmoved[index]))),
    ).toEqual([])

    const diff = manifestDiff(await manifestChanges(cluster.reader, objects), [], { origin: '', sha256: '' })
    await applyManifest(objects, cluster)
    const is = await live()
    const really = was.flatMap((object, index) => linesOf(object?.kind, changedFields(object, is[index])))
    for (const lines of told) expect(lines.toSorted()).toEqual(really.toSorted())
    expect(isApplied(await manifestChanges(cluster.reader, objects))).toBe(true)
    expect(diff.crds[0]?.schemas.map(({ to }) => to)).toContainEqual(expect.stringMatching(/ added/u))
    expect(diff.rights.map(({ role }) => role)).toContain('kubevirt-operator')

    async function dryRunSteps(mode: 'client' | 'server'): Promise<string[]> {
      const recording = new Recording(cluster.reader, (observed) =>
        dryRunningBy(mode, cluster.reviewer, observed),
      )
      await applyManifest(objects, recording)
      return recording.changes.flatMap(({ object, fields }) => linesOf(object.kind, fields))
    }
  },
)

/** The Deployment's controller counts its revisions itself. */
function linesOf(kind: string | undefined, fields: readonly FieldChange[]): string[] {
  return fields
    .filter(({ path }) => !path.includes('deployment.kubernetes.io/revision'))
    .map(({ path, from, to }) => `${kind} ${path}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
}
