import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { expectRolled } from '../installation.ts'
import { kvup, startKvup } from '../kvup.ts'
import { type Lab, startLab } from '../lab.ts'
import { nextPod, playPod, reportEnd } from '../played-pod.ts'

const image = `registry.example.com/kvup@sha256:${'0123456789abcdef'.repeat(4)}`
const line = [...'fleet upgrade --plan fleet-plan.yaml --via-jobs --yes --image'.split(' '), image]
let lab: Lab

beforeAll(async () => {
  lab = await startLab({
    name: 'fleet-jobs',
    workers: 1,
    operator: 'v1.8.4',
    imageTag: 'v1.7.0',
    methods: ['LiveMigrate'],
  })
})
afterAll(() => lab.stop())

/** Everything of a Job that would still be there. */
async function left(): Promise<string[]> {
  const own =
    'clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts,jobs,cronjobs,pods,configmaps'
  const text = await lab.kubectl(['get', own, '-A', '-o', 'name', '--no-headers'])
  return text.split('\n').filter((name) => name.includes('kvup-run:') || name.includes('kvup-fleet'))
}

async function journal(): Promise<readonly Entry[]> {
  const { data } = await lab.object<{ data: { entries: string } }>(
    'get',
    '-n',
    'kubevirt',
    'configmap',
    'kvup-journal',
  )
  return data.entries
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Entry)
}

test('a fleet run by Jobs on a real control plane: killed while the Job runs, the same line goes on with it, and nothing granted is left', async () => {
  const planned = await kvup(lab, [
    ...'fleet plan --contexts * --to v1.8.4 --method image-tag --stable-for 5s --to-file'.split(' '),
    path.join(lab.dir, 'fleet-plan.yaml'),
    '-o',
    'json',
  ])
  expect({ code: planned.code, said: planned.stderr }).toMatchObject({ code: 0 })
  const { seal } = JSON.parse(planned.stdout) as { seal: { uid: string } }

  const first = startKvup(lab, line)
  const pod = await nextPod(lab)
  const played = await playPod(lab, pod)
  await first.line(/: Job runs/u)
  first.signal('SIGKILL')
  expect(await first.ended).toMatchObject({ code: 137 })

  const second = startKvup(lab, line)
  await second.line(/: goes on with Job kvup-fleet, which runs already/u)
  const code = await played.ended
  expect({ code, said: code === 0 ? '' : played.said().slice(-3000) }).toEqual({ code: 0, said: '' })
  await reportEnd(lab, pod, 0)
  const ended = await second.ended
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })

  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  expect(await left()).toEqual([])
  const own = (await journal()).filter(({ fleet }) => fleet?.uid === seal.uid)
  expect(own.filter(({ what }) => what === 'finished').map(({ fleet }) => fleet?.wave)).toEqual([1])
  expect(own.at(-1)).toMatchObject({ what: 'closed', fleet: { over: true } })

  const since = new Date()
  const again = await kvup(lab, line)
  expect({ code: again.code, said: again.stderr }).toMatchObject({ code: 0 })
  expect(await lab.auditWrites({ userAgent: 'kvup/', since })).toEqual([])
})
