import { expect, test } from 'vitest'
import { type Cluster, readerWith } from '../../../src/lib/kube/cluster.ts'
import { groupOf, type Kind } from '../../../src/lib/kube/object.ts'
import { type CheckExample, clusterOf, layered } from '../checks/check-example.ts'
import { runText } from '../run-text.ts'

/** Groups of which something was asked while a command ran, and groups whose presence was asked for. */
async function asked(words: string, example: CheckExample) {
  const groups = new Set<string>()
  const served: string[] = []
  const { cluster, clock } = clusterOf(example)
  const { reader } = cluster
  const told = (kind: Kind) => groups.add(groupOf(kind))
  const watched: Cluster = {
    ...cluster,
    reader: readerWith(reader, {
      get: (kind, ref) => (told(kind), reader.get(kind, ref)),
      list: (kind, where) => (told(kind), reader.list(kind, where)),
      pages: (kind, where) => (told(kind), reader.pages(kind, where)),
      versions: (group) => (served.push(group), reader.versions(group)),
    }),
  }
  await runText(words.split(' '), { cluster: watched, clock })
  return { groups, served }
}

const ofLayers =
  /^(?:config\.openshift\.io|operators\.coreos\.com|hco\.kubevirt\.io|k8s\.cni\.cncf\.io)$|^nodemaintenance/u

/** Objects on which an override of kvup may be noted are looked at everywhere. */
const ofOverrides = ['config.openshift.io', 'hco.kubevirt.io', 'operators.coreos.com']

test.each(['check', 'check --to v1.9.0', 'status'])(
  'on a plain cluster kvup %s asks once whether it is a platform, and nothing else of other layers but for open overrides',
  async (words) => {
    const { groups, served } = await asked(words, {})
    const others = [...groups].filter((group) => ofLayers.test(group))
    expect(others.toSorted()).toEqual(ofOverrides)
    expect(served.filter((group) => ofLayers.test(group))).toEqual(['config.openshift.io'])
  },
)

test('where they are, all of them are read', async () => {
  const { groups } = await asked('check', layered)
  expect([...groups].filter((group) => ofLayers.test(group)).toSorted()).toEqual([
    'config.openshift.io',
    'hco.kubevirt.io',
    'k8s.cni.cncf.io',
    'nodemaintenance.kubevirt.io',
    'nodemaintenance.medik8s.io',
    'operators.coreos.com',
  ])
})
