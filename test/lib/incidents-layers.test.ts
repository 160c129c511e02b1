import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { expected } from './kubevirt/example.ts'
import { runText } from './run-text.ts'

const folder = 'test/examples/incidents'

/** Incidents of the platform and of what lies above KubeVirt: what people met, and the words that have to be said beforehand. */
const incidents: readonly (readonly [name: string, check: string, status: string | undefined])[] = [
  // Networks are read by check alone.
  ['11-ocp-cnv-38746', 'on a network of type cnv-bridge (demo/br1: demo/web-1)', 'OpenShift 4.18.21'],
  ['38-okd-1461', 'Its overrides leave out DNS cluster', 'remove overrides before continuing'],
  [
    '39-dell-csm-214',
    'update oadp-operator.v1.4.1 to a release',
    'openshift-adp/oadp-operator.v1.4.1 is 4.18',
  ],
]

async function page(command: string, name: string) {
  const file = `${folder}/${name}/layers.yaml`
  const { code, out } = await runText([command, '--from', file], {
    cluster: {} as Cluster,
    clock: systemClock,
  })
  const text = out.replaceAll(file, 'layers.yaml')
  return `$ kvup ${command} --from layers.yaml\nexit ${code}\n${partOf[command]?.exec(text)?.[0] ?? text}`
}

/** What is said of the layers: the rest of a page is held elsewhere. */
const partOf: Readonly<Record<string, RegExp>> = {
  check: /^operator\n.*?\n(?=rights\n)/msu,
  status: /^cluster .*?\n(?=\n)/su,
}

test.each(incidents)('%s is named beforehand by kvup check, and by kvup status', async (name, said, told) => {
  expect(readdirSync(`${folder}/${name}`)).toContain('layers.yaml')
  const checked = await page('check', name)
  expect(checked).toContain(said)
  expect(checked).toBe(expected(`incidents/${name}`, 'layers.check.txt', checked))
  const shown = await page('status', name)
  expect(shown.replaceAll(/\s+/gu, ' ')).toContain(told)
  expect(shown).toBe(expected(`incidents/${name}`, 'layers.status.txt', shown))
})
