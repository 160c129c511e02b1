import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { expected } from './kubevirt/example.ts'
import { runText } from './run-text.ts'

const root = 'test/examples/incidents'
const nowhere = { cluster: {} as Cluster, clock: new SimClock(), columns: 120 }

async function printed(folder: string, file: string, line: string): Promise<string> {
  const from = `${root}/${folder}/${file}.yaml`
  const { out, err } = await runText([...line.split(' '), '--from', from], nowhere)
  return `$ kvup ${line} --from ${file}.yaml\n${line.startsWith('check') ? foundLines(out) : out}${err}`
}

/** Findings with what belongs to them; neither what passed nor the counts: the page of a check grows with every check. */
function foundLines(page: string): string {
  return page
    .split('\n')
    .filter((text) => !/^ ✔ |^[a-z]+$|^\d+ checks: /u.test(text))
    .join('\n')
}

interface Incident {
  folder: string
  file: string
  line: 'status' | 'check'
  /** In words that tell it apart. */
  cause: RegExp
  /** What to type, or to do. */
  helps: RegExp
}

const incidents: readonly Incident[] = [
  {
    folder: '27-cdi-3722',
    file: 'cluster',
    line: 'status',
    cause:
      / cluster · stalled · HyperConverged: 4\.18\.13: CDI is not available[^]*although nothing is being updated[^]*cdi-operator runs/u,
    helps:
      /→ kubectl get cdis\.cdi\.kubevirt\.io cdi-kubevirt-hyperconverged -o yaml[^]*→ kubectl -n openshift-cnv logs deployment\/cdi-operator --tail=50/u,
  },
  {
    folder: '23-cnao-1292',
    file: 'cluster',
    line: 'status',
    cause:
      / cluster · degraded · HyperConverged: 4\.18\.13: NetworkAddonsConfig is degraded[^]*please install Kubernetes NMState Operator/u,
    helps:
      /→ kubectl get networkaddonsconfigs\.networkaddonsoperator\.network\.kubevirt\.io cluster -o yaml/u,
  },
  {
    folder: '25-hpp-255',
    file: 'cluster',
    line: 'status',
    cause: /new CRD removes version v1alpha1 that is listed as a stored version/u,
    helps:
      /→ kubectl get hostpathprovisioners\.hostpathprovisioner\.kubevirt\.io -A -o json \| kubectl replace -f -[^]*→ kubectl patch crd hostpathprovisioners\.hostpathprovisioner\.kubevirt\.io --subresource=status/u,
  },
  {
    folder: '26-hco-2256',
    file: 'cluster',
    line: 'status',
    cause: /Job 0a1b2c3d in namespace openshift-marketplace failed \(BackoffLimitExceeded\)/u,
    helps: /→ kubectl -n openshift-marketplace delete job\/0a1b2c3d configmap\/0a1b2c3d[^]*\(untested\)/u,
  },
]

describe.each(incidents)('$folder $file: $line', ({ folder, file, line, cause, helps }) => {
  test('the page', async () => {
    expect(existsSync(`${root}/${folder}/${file}.yaml`)).toBe(true)
    const text = await printed(folder, file, line)
    expect(text).toBe(expected(`incidents/${folder}`, `${file}.${line}.txt`, text))
  })

  test('the cause is named, and what helps', async () => {
    // Lines are wrapped anywhere.
    const text = (await printed(folder, file, line)).replaceAll(/\s+/gu, ' ')
    expect(text).toMatch(cause)
    expect(text).toMatch(helps)
  })
})
