import { itemsOf, type Known, notAsked } from '../kube/known.ts'
import type { HyperConverged } from '../kube/kinds/operator-kinds.ts'
import type { NodeMaintenance } from '../kube/kinds/openshift-kinds.ts'
import type { HopFinding } from '../releases/hop-findings.ts'
import { knownReleases } from '../releases/releases.ts'
import type { RecognisedWindow } from './eus-window.ts'
import type { Layer } from './olm-layers.ts'
import type { LifecycleSnapshot } from './olm-status.ts'
import {
  besideStable,
  channelGone,
  flavourOf,
  installedOperator,
  methodsOnHyperConverged,
  misspelt,
  outOfStep,
  platformAtHand,
  tainted,
} from './operator-rules.ts'
import { notUpgradeable, oldMaintenance, releaseOf } from './platform-rules.ts'
import { assessPlatform, type PlatformSnapshot } from './platform-status.ts'

interface Warned {
  platform: PlatformSnapshot
  lifecycle: LifecycleSnapshot
  hyperConverged: Known<HyperConverged>
  oldMaintenances?: Known<NodeMaintenance>
  maintenances?: Known<NodeMaintenance>
}

/**
 * The layers with what `kvup check` warns of and a verdict does not show, as notes with the first line that helps. A channel that the catalog does not have is waited for, because no update comes
 * without somebody. Pure.
 */
export function withWarnings(
  layers: readonly Layer[],
  snapshot: Warned,
  window: RecognisedWindow | undefined,
): readonly Layer[] {
  const found = warningsOf(snapshot, window)
  return layers.map((layer) => {
    const own = found[layer.layer] ?? []
    const isWaiting = layer.verdict === 'Healthy' && own.some(({ id }) => id === 'channel-not-in-catalog')
    return own.length === 0 ? layer : { ...noted(layer, own), ...(isWaiting && waits(window)) }
  })
}

const waits = (window: RecognisedWindow | undefined): Pick<Layer, 'verdict' | 'waitsFor' | 'expected'> => ({
  verdict: 'Waiting',
  waitsFor: 'a channel that its catalog has',
  // The catalog of the next minor may have it.
  ...(window && { expected: 'during an EUS upgrade' }),
})

function noted(layer: Layer, found: readonly HopFinding[]): Layer {
  const said = layer.notes ?? []
  const step = found.find(({ id }) => id === 'version-in-step')
  const help = found.flatMap(({ remedy: [first] }) => first ?? [])
  return {
    ...layer,
    ...(step && { outOfStep: step.summary }),
    notes: [...said, ...found.map(({ summary }) => summary)],
    help: [...(layer.help ?? []), ...help],
  }
}

function warningsOf(
  snapshot: Warned,
  window: RecognisedWindow | undefined,
): { readonly [L in Layer['layer']]?: readonly HopFinding[] } {
  const {
    platform,
    lifecycle,
    hyperConverged,
    oldMaintenances = notAsked,
    maintenances = notAsked,
  } = snapshot
  const parts = { ...lifecycle, hyperconverged: hyperConverged }
  const [cv] = itemsOf(platform.clusterVersion)
  const [hco] = itemsOf(hyperConverged)
  const status = cv && assessPlatform(cv)
  const release = status && releaseOf(status)
  const hand = status && platformAtHand(status, window)
  return {
    // What the condition says is told there already.
    platform: [
      ...(cv && status && status.upgradeable.is !== 'no' ? notUpgradeable(cv, status) : []),
      ...oldMaintenance({ oldMaintenances, maintenances }),
    ],
    subscription: channelGone(parts),
    hyperconverged: [
      ...(hand ? outOfStep(installedOperator(parts), hand, knownReleases) : []),
      ...(release === undefined ? [] : besideStable(parts, flavourOf(release, status?.channel))),
      ...tainted(parts),
      ...(hco ? misspelt(methodsOnHyperConverged(hco), `hyperconverged/${hco.metadata.name}`) : []),
    ],
  }
}
