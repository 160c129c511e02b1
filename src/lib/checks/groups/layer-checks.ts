import { itemsOf, type Known } from '../../kube/known.ts'
import {
  assessedPools,
  armedUpdate,
  bridgeNetworks,
  graveAlerts,
  notUpgradeable,
  oldMaintenance,
  poolTroubles,
  troubledOperators,
  unsteady,
} from '../../openshift/platform-rules.ts'
import {
  besideStable,
  catalogTroubles,
  channelGone,
  crdsOfOperands,
  flavourOf,
  held,
  installedOperator,
  leftoverVersions,
  methodsOnHyperConverged,
  minorOfOperator,
  misspelt,
  notGood,
  oneSubscription,
  operatorGroupsCount,
  outOfStep,
  type OperatorParts,
  type PlatformAtHand,
  platformAtHand,
  tainted,
  writtenVersion,
} from '../../openshift/operator-rules.ts'
import type { PlatformParts } from '../../openshift/platform-rules.ts'
import { askAlerts, withoutOffers } from '../../openshift/firing-alerts.ts'
import { recogniseWindow } from '../../openshift/eus-window.ts'
import { againstPlatform } from '../../releases/platform-releases.ts'
import { operatorVersionOf, versionOfCsv } from '../../releases/release-versions.ts'
import { assessPlatform, type PlatformStatus, unreadPlatform } from '../../openshift/platform-status.ts'
import { type Check, checksOf, instancesOf, type Question } from '../check-definition.ts'

const operatorCheck = checksOf('operator')
const installationCheck = checksOf('installation')
const platformCheck = checksOf('platform')

/** Only for checks that need it: what was not read is no reason to be asked. */
const notRead: Known<never> = { known: false, why: 'not read' }

/** The platform's parts; only for checks of the layer `platform`, each for the parts that it needs. */
function platformOf({ snapshot }: Question): PlatformParts {
  return {
    clusterVersion: snapshot.clusterVersion ?? notRead,
    clusterOperators: snapshot.clusterOperators ?? notRead,
    pools: snapshot.pools ?? notRead,
    oldMaintenances: snapshot.oldMaintenances ?? notRead,
    maintenances: snapshot.maintenances ?? notRead,
    bridgeNetworks: snapshot.bridgeNetworks ?? notRead,
    alerts: snapshot.alerts ?? notRead,
  }
}

function operatorOf({ snapshot }: Question): OperatorParts {
  return {
    hyperconverged: snapshot.hyperconverged ?? notRead,
    subscriptions: snapshot.subscriptions ?? notRead,
    csvs: snapshot.csvs ?? notRead,
    operatorGroups: snapshot.operatorGroups ?? notRead,
    operatorConditions: snapshot.operatorConditions ?? notRead,
    catalogSources: snapshot.catalogSources ?? notRead,
    packageManifests: snapshot.packageManifests ?? notRead,
  }
}

function statusOf(question: Question): PlatformStatus | undefined {
  const [cv] = itemsOf(platformOf(question).clusterVersion)
  return cv && assessPlatform(cv)
}

/** Undefined where the ClusterVersion does not say which release it runs. */
function atHand(question: Question): (PlatformAtHand & { status: PlatformStatus }) | undefined {
  const status = statusOf(question)
  const { clusterVersion, pools } = platformOf(question)
  const { nodes } = question.snapshot
  const window = recogniseWindow({ ...unreadPlatform, clusterVersion, pools, nodes }, false)
  const hand = status && platformAtHand(status, window)
  return hand && { ...hand, status }
}

/** Where the platform is updated by itself, and its operators are on their way, nothing is judged by how they look meanwhile. */
const isUpdating = (question: Question): boolean => statusOf(question)?.state === 'updating'

/** And nothing that was not judged is called good. */
const whileUpdating = (question: Question): string | undefined =>
  isUpdating(question)
    ? 'the platform is being updated, which disturbs them for a while; kvup status shows what is expected'
    : undefined

const lacksSubscription = (question: Question): string | undefined => {
  const { subscriptions } = operatorOf(question)
  const { length } = itemsOf(subscriptions)
  return length === 1 ? undefined : `the package has ${length} Subscriptions, and kvup can judge only one`
}

const noRelease = 'the ClusterVersion names no installed release'

/** OpenShift Virtualization has the platform's own numbers, HyperConverged others; each minor belongs to one of the platform (night E8). */
const versionInStep = operatorCheck('version-in-step', {
  layers: ['platform', 'operator'],
  title: 'the operator matches the minor of the platform',
  unchecked: 'the minors of operator and platform were not compared',
  needs: ['clusterVersion', 'hyperconverged', 'pools', 'nodes'],
  lacks(question) {
    const platform = atHand(question)
    if (platform === undefined) return noRelease
    const version = installedOperator(operatorOf(question))
    if (version === undefined) return 'HyperConverged names no version'
    if (minorOfOperator(version, question.releases) !== undefined) return undefined
    const parsed = operatorVersionOf(version)
    const fits = parsed && againstPlatform(parsed, platform.here, question.releases)
    return fits?.is === 'unknown' || fits === undefined
      ? `the release data do not know which minor the operator ${version} belongs to`
      : undefined
  },
  assess(question) {
    const platform = atHand(question)
    if (platform === undefined) return []
    const parts = operatorOf(question)
    return [
      ...outOfStep(installedOperator(parts), platform, question.releases),
      ...besideStable(parts, flavourOf(platform.release, platform.status.channel)),
    ]
  },
})

const hyperConvergedGood = operatorCheck('hyperconverged-not-good', {
  layers: ['operator'],
  title: 'every condition of HyperConverged is healthy',
  unchecked: 'the conditions of HyperConverged were not checked',
  needs: ['hyperconverged'],
  lacks: whileUpdating,
  assess: (question) => (isUpdating(question) ? [] : notGood(operatorOf(question))),
})

const hyperConvergedTainted = operatorCheck('hyperconverged-tainted', {
  layers: ['operator'],
  title: 'HyperConverged has no unsupported patches',
  unchecked: 'patches of HyperConverged were not looked for',
  needs: ['hyperconverged'],
  assess: (question) => tainted(operatorOf(question)),
})

/** On the KubeVirt where nobody else owns it, else on the HyperConverged, which copies them there. */
export const methodsKnown = installationCheck('methods-misspelt', {
  title: 'KubeVirt knows every value of workloadUpdateMethods',
  unchecked: 'the values of workloadUpdateMethods were not checked',
  needs: ['kubevirts'],
  assess: ({ installation: { workloadUpdateMethods, name, manager } }) =>
    manager.kind === 'hyperconverged' ? [] : misspelt(workloadUpdateMethods, `kubevirt/${name}`),
})

const hyperConvergedMethods = operatorCheck('hyperconverged-methods', {
  findings: ['methods-misspelt'],
  layers: ['operator'],
  title: 'KubeVirt knows every update method that HyperConverged has for it',
  unchecked: 'the update methods of HyperConverged were not checked',
  needs: ['hyperconverged'],
  assess: (question) =>
    itemsOf(operatorOf(question).hyperconverged).flatMap((hco) =>
      misspelt(methodsOnHyperConverged(hco), `hyperconverged/${hco.metadata.name}`),
    ),
})

/** Seed 003 recommends Automatic; Manual gives each update into the hands of whoever approves it (ocp 2.3). */
const approvalAutomatic = operatorCheck('approval-manual', {
  layers: ['olm'],
  title: 'OLM approves updates of the operator automatically',
  unchecked: 'the approval of operator updates was not checked',
  needs: ['subscriptions'],
  lacks: lacksSubscription,
  assess(question) {
    const subscription = oneSubscription(operatorOf(question))
    if (subscription?.approval !== 'Manual') return undefined
    const { name, state, plan, latest, troubles } = subscription
    const to = versionOfCsv(latest)?.text
    // OLM keeps the state of a plan that failed: nothing is left to approve.
    const isFailed = troubles.some(({ type }) => type === 'InstallPlanFailed')
    const waits = state === 'UpgradePending' && plan !== undefined && to !== undefined && !isFailed
    return {
      level: waits ? 'warning' : 'info',
      summary: waits
        ? `InstallPlan ${plan} waits for your approval, for ${to}: Subscription ${name} is Manual`
        : `Subscription ${name} is Manual: each update of the operator, patches too, waits until you approve its InstallPlan`,
      objects: [`subscription/${name}`, ...(waits ? [`installplan/${plan}`] : [])],
      remedy: waits
        ? [`kvup upgrade --to ${to} --method olm     checks this InstallPlan, then approves it`]
        : ['kvup status      shows what is installed, and what waits'],
    }
  },
})

const channelInCatalog = operatorCheck('channel-not-in-catalog', {
  layers: ['olm'],
  title: 'the catalog has the channel that the Subscription follows',
  unchecked: 'the channel of the Subscription was not checked',
  needs: ['subscriptions', 'packageManifests'],
  lacks(question) {
    const several = lacksSubscription(question)
    if (several !== undefined) return several
    const { packageManifests, subscriptions } = operatorOf(question)
    const { channel, source, package: name } = oneSubscription({ subscriptions }) ?? {}
    const isShown = itemsOf(packageManifests).some(({ status }) => (status?.channels ?? []).length > 0)
    return channel === undefined || isShown
      ? undefined
      : `catalog ${source ?? ''} does not show package ${name ?? ''}`
  },
  assess: (question) => channelGone(operatorOf(question)),
})

const catalogAnswers = operatorCheck('catalog-not-healthy', {
  layers: ['olm'],
  title: 'the catalog answers, and OLM can resolve what is in the namespace',
  unchecked: 'the catalog was not checked',
  needs: ['subscriptions', 'csvs', 'catalogSources'],
  lacks: lacksSubscription,
  assess: (question) => catalogTroubles(operatorOf(question), question.at),
})

const oneOperatorGroup = operatorCheck('one-operator-group', {
  layers: ['olm'],
  title: 'the namespace of the operator has exactly one OperatorGroup',
  unchecked: 'OperatorGroups were not counted',
  needs: ['subscriptions', 'operatorGroups'],
  lacks: lacksSubscription,
  assess(question) {
    const parts = operatorOf(question)
    return operatorGroupsCount(parts, oneSubscription(parts)?.namespace)
  },
})

const operatorNotHeld = operatorCheck('operator-held', {
  layers: ['olm'],
  title: 'OLM may replace the operator',
  unchecked: 'the OperatorCondition was not checked',
  needs: ['subscriptions', 'operatorConditions'],
  lacks: lacksSubscription,
  assess: (question) => held(operatorOf(question)),
})

/** Beforehand it costs two commands; behind a failed InstallPlan a new Subscription. */
const noLeftoverVersions = operatorCheck('leftover-stored-versions', {
  layers: ['olm'],
  title: 'no CRD of the operator lists a stored version that is obsolete',
  unchecked: "the stored versions of the operator's CRDs were not checked",
  needs: ['subscriptions', 'crds'],
  lacks({ snapshot }) {
    const crds = crdsOfOperands(itemsOf(snapshot.crds))
    const silent = crds.find((crd) => writtenVersion(crd) === undefined || !crd.status?.storedVersions)
    return silent && `the CRD ${silent.metadata.name} does not say which versions it stores`
  },
  assess: ({ snapshot }) => crdsOfOperands(itemsOf(snapshot.crds)).map(leftoverVersions),
})

const platformSteady = platformCheck('platform-not-steady', {
  findings: ['update-armed'],
  layers: ['platform'],
  title: 'no update of the platform fails or waits',
  unchecked: 'updates of the platform were not checked',
  needs: ['clusterVersion'],
  assess(question) {
    const status = statusOf(question)
    return status && [...unsteady(status), ...armedUpdate(status)]
  },
})

const platformUpgradeable = platformCheck('platform-not-upgradeable', {
  layers: ['platform'],
  title: 'the platform can go to its next minor',
  unchecked: 'the next minor of the platform was not checked',
  needs: ['clusterVersion'],
  lacks: (question) =>
    itemsOf(platformOf(question).clusterVersion).some(({ status }) => (status?.conditions ?? []).length > 0)
      ? undefined
      : 'the ClusterVersion has no conditions',
  assess: (question) =>
    itemsOf(platformOf(question).clusterVersion).map((cv) => notUpgradeable(cv, assessPlatform(cv))),
})

const clusterOperatorsGood = platformCheck('cluster-operators-degraded', {
  layers: ['platform'],
  title: 'no part of the platform is degraded or unavailable',
  unchecked: 'cluster operators were not checked',
  needs: ['clusterVersion', 'clusterOperators'],
  lacks: whileUpdating,
  assess: (question) => (isUpdating(question) ? [] : troubledOperators(platformOf(question))),
})

const poolsGood = platformCheck('pool-degraded', {
  findings: ['master-paused'],
  layers: ['platform'],
  title: 'no machine config pool is degraded, and the control plane pool is not paused',
  unchecked: 'machine config pools were not checked',
  needs: ['pools'],
  assess: (question) => poolTroubles(assessedPools(platformOf(question))),
})

/** Told at 4.10 and from then on: at 4.11 nobody looks after these objects, and the node stays held (night E9). */
const noOldMaintenance = platformCheck('node-maintenance-old', {
  layers: ['platform'],
  title: 'no node is in maintenance by the operator that ended with 4.10',
  unchecked: 'old node maintenances were not looked for',
  needs: ['oldMaintenances', 'maintenances'],
  assess: (question) => oldMaintenance(platformOf(question)),
})

const noOldBridge = platformCheck('bridge-networks', {
  layers: ['platform'],
  title: 'no running VM is on a network of type cnv-bridge, which ends with 4.12',
  unchecked: 'networks of type cnv-bridge were not looked for',
  needs: ['bridgeNetworks', 'instances', 'clusterVersion'],
  lacks: (question) => (atHand(question) === undefined ? noRelease : undefined),
  assess(question) {
    const { here } = atHand(question) ?? {}
    const { networks: vms } = instancesOf(question)
    return here === undefined ? [] : bridgeNetworks(platformOf(question), { here, vms })
  },
})

const noGraveAlerts = platformCheck('alerts-firing', {
  layers: ['platform'],
  title: 'no alert is firing that warns against draining nodes',
  unchecked: 'firing alerts were not checked',
  needs: ['alerts'],
  toSee: ({ snapshot: { alerts } }) => [
    ...(alerts?.known === false && withoutOffers(alerts.why).byRoute
      ? ["kvup check --alerts=route      sends your token to the platform's own thanos-querier only"]
      : []),
    askAlerts,
  ],
  assess: (question) => graveAlerts(platformOf(question)),
})

/** What lies above KubeVirt: nothing of it is judged on a cluster that has none. */
export const operatorChecks: readonly Check[] = [
  versionInStep,
  hyperConvergedGood,
  hyperConvergedTainted,
  hyperConvergedMethods,
  approvalAutomatic,
  channelInCatalog,
  catalogAnswers,
  oneOperatorGroup,
  operatorNotHeld,
  noLeftoverVersions,
]

/** What lies below it. */
export const platformChecks: readonly Check[] = [
  platformSteady,
  platformUpgradeable,
  clusterOperatorsGood,
  poolsGood,
  noOldMaintenance,
  noOldBridge,
  noGraveAlerts,
]
