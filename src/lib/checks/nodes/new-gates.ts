import type { Node } from '../../cluster/kinds/core.ts'
import type { Releases } from '../../releases/releases.ts'
import { compareVersions, type Version, versionOf } from '../../releases/version.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import { gatesOf, undecided } from '../feature-gates.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'
import { atLeast } from './at-least.ts'
import { nodesWithHandler } from './handler-places.ts'

type Gate = Releases['newGates'][number]

/** Night C2, facts 1.3, 8: a Beta gate is on from v1.9 on, and VMs fail on nodes that lack what it needs. */
export const newGates: Check = {
  id: 'new-gates',
  group: 'nodes',
  title: 'the nodes have what feature gates need that the target turns on by itself',
  needs: ['nodes', 'pods'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const nodes = nodesWithHandler(question.evidence)
    return turnedOn(question).flatMap((gate) => findings(gate, nodes, question))
  },
}

/** Not those that somebody decided on: listed as disabled, or on already. */
function turnedOn({ releases, standing, target, installation }: Question): readonly Gate[] {
  const from = versionOf(standing.observed.version)
  return releases.newGates.filter(
    (gate) => undecided([gate.gate], installation).length > 0 && isBetween(gate.in, from, target),
  )
}

/** Later than what is installed (where that is known), not later than the target. */
function isBetween(minor: string, from: Version | undefined, target: Version | undefined): boolean {
  const first = versionOf(`${minor}.0`)
  if (!first || !target || compareVersions(first, { ...target, text: bare(target) }) > 0) return false
  return !from || compareVersions({ ...from, text: bare(from) }, first) < 0
}

/** A pre-release has the gates of its release. */
const bare = ({ major, minor, patch }: Version): string => `v${major}.${minor}.${patch}`

function findings(gate: Gate, nodes: readonly Node[], question: Question): Finding[] {
  const lacking = nodes.filter((node) => lacks(node, gate).length > 0)
  const [first] = lacking
  if (!first) return []
  const said = lacking.map((node) => `${node.metadata.name} (${lacks(node, gate).join(', ')})`)
  return [
    {
      id: 'new-gates',
      level: 'blocker',
      summary: `${gate.in} turns ${gate.gate} on by itself, and ${counted(lacking.length, 'node', ['is', 'are'])} too old for it: ${someOf(said)}`,
      objects: lacking.map(({ metadata }) => `node/${metadata.name}`),
      remedy: [disable(gate, question)],
    },
  ]
}

/** Of other container runtimes than containerd nothing is known, so nothing is said. */
function lacks({ status }: Node, { needs }: Gate): string[] {
  const { kubeletVersion, containerRuntimeVersion = '' } = status?.nodeInfo ?? {}
  const runtime = containerRuntimeVersion.startsWith('containerd://') ? containerRuntimeVersion : undefined
  return [
    ...(needs.kubelet !== undefined && atLeast(kubeletVersion, needs.kubelet) === false
      ? [`kubelet ${kubeletVersion}, needs ${needs.kubelet}`]
      : []),
    ...(needs.containerd !== undefined && atLeast(runtime, needs.containerd) === false
      ? [`${containerRuntimeVersion}, needs ${needs.containerd}`]
      : []),
  ]
}

/** The whole list: a merge patch replaces it. The field is there since v1.8 (facts 1.3). */
function disable({ gate }: Gate, { installation }: Question): string {
  const { namespace, name } = installation
  const { disabledFeatureGates } = gatesOf(installation)
  const patch = {
    spec: {
      configuration: {
        developerConfiguration: { disabledFeatureGates: [...disabledFeatureGates, gate] },
      },
    },
  }
  return `kubectl -n ${namespace} patch kubevirt ${name} --type merge -p '${JSON.stringify(patch)}'`
}
