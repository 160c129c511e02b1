import type { CommandContext } from '../../kube/world.ts'
import { againstPlatform } from '../../releases/platform-releases.ts'
import { operatorVersionOf } from '../../releases/release-versions.ts'
import { type Releases, readReleases } from '../../releases/releases.ts'
import { KvupError, usageError } from '../../kube/errors.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { type OperatorSnapshot, seeOperator } from '../methods/olm-operator.ts'
import { releasesAhead } from '../methods/operator-target.ts'
import { reachable } from '../../releases/reachable.ts'
import { seeForUpgrade } from '../upgrade-snapshot.ts'
import type { UpgradeOptions } from './upgrade-options.ts'
import type { Reader } from '../../kube/cluster.ts'
import { chooseMethod, type UpgradeState, type UpgradeRequest } from '../upgrade-plan.ts'
import { olmGoal } from '../methods/olm-plan.ts'
import { readCatalog } from '../../releases/catalog-file.ts'

type Typed = Pick<UpgradeOptions, 'catalogFile' | 'releases'>

/** `kvup upgrade` without a target: where it stands, what can be reached and the next command, as a usage error. */
export async function whereToGo(cx: CommandContext, typed: Typed): Promise<KvupError> {
  try {
    const { reader } = await cx.cluster()
    const { installation, rolloutStatus } = await seeForUpgrade(reader, cx.clock)
    if (installation.manager.kind === 'hyperconverged')
      return await whereOlmLeads(cx, await seeOperator(reader), typed)
    const now = rolloutStatus.observed.version ?? 'no version that was installed completely'
    const targets = reachable(rolloutStatus.observed.version)
    return usageError(
      'no-target',
      `say where to go: KubeVirt in namespace ${installation.namespace} is at ${now}, ${rolloutStatus.verdict.toLowerCase()}`,
      {
        remedy:
          targets.length > 0
            ? targets.map((version) => `kvup upgrade --to ${version}`)
            : ['kvup upgrade --to VERSION'],
      },
    )
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return usageError('no-target', `say where to go; where it stands could not be read: ${error.message}`, {
      remedy: error.remedy.length > 0 ? error.remedy : 'kvup upgrade --to VERSION',
    })
  }
}

async function whereOlmLeads(
  cx: CommandContext,
  operatorSnapshot: OperatorSnapshot,
  typed: Typed,
): Promise<KvupError> {
  const { catalogFile } = typed
  const [catalog, releases] = await Promise.all([
    readCatalog(cx.world, catalogFile),
    readReleases(cx.world, typed.releases),
  ])
  const targets = releasesAhead({ operatorSnapshot, releases, catalog })
  const { namespace } = operatorSnapshot.subscription.metadata
  const none = targets.length === 0 ? `; ${whyNone(operatorSnapshot, catalogFile)}` : ''
  const by = catalogFile === undefined ? '' : ` --catalog-file ${shellWord(catalogFile)}`
  return usageError(
    'no-target',
    `say where to go: HyperConverged in namespace ${namespace} is at ${operatorSnapshot.installed.text}${none}`,
    {
      remedy: [
        ...targets.map(
          (text) =>
            `kvup upgrade --to ${text} --method olm${by}${unplaced(text, operatorSnapshot, releases)}`,
        ),
        ...(catalogFile === undefined ? byCatalogFile(operatorSnapshot) : []),
      ],
    },
  )
}

/** How a version that is not offered stands against the platform (night E8). */
function unplaced(text: string, { platform: { minor } }: OperatorSnapshot, releases: Releases): string {
  const version = operatorVersionOf(text)
  const against = version && minor !== undefined ? againstPlatform(version, minor, releases).is : 'fits'
  return against === 'unknown' ? '     of which minor of the platform it is, is not known' : ''
}

function whyNone({ offered = [], platform }: OperatorSnapshot, catalogFile: string | undefined): string {
  if (catalogFile !== undefined) return 'the catalog file leads nowhere from there'
  if (offered.length === 0) return 'what the catalog has cannot be seen'
  const within = platform.minor === undefined ? '' : ` that belongs to platform ${platform.minor}`
  return `the catalog shows nothing later${within}`
}

/** The cluster shows releases without edges, and may show nothing (ocp 2.6): only the catalog itself tells what leads where. */
function byCatalogFile({ subscription: { spec } }: OperatorSnapshot): readonly string[] {
  return [
    `kubectl -n ${spec?.sourceNamespace ?? ''} get catalogsource ${spec?.source ?? ''} -o jsonpath='{.spec.image}'     names the image of the catalog`,
    'opm render IMAGE -o yaml > catalog.yaml     makes a file of it',
    'kvup upgrade --catalog-file catalog.yaml     says which further releases its edges lead to',
  ]
}

interface Question {
  cx: CommandContext
  options: UpgradeOptions
  request: UpgradeRequest
  releases: Releases
  reader: Reader
}

/**
 * Where OLM is the method: what there is of the operator, and where `--to` leads. Throws `usage` for flags of OLM that would not be looked at, and
 * what `seeOperator` and `olmGoal` throw.
 */
export async function withOlm(
  upgradeState: UpgradeState,
  { cx, options, request, releases, reader }: Question,
): Promise<UpgradeState> {
  const { installation } = upgradeState
  const isOlm = chooseMethod(request.method, installation, request.to) === 'olm'
  if (!isOlm || installation.manager.kind !== 'hyperconverged' || request.follow) {
    refuseUnused(options, request)
    return upgradeState
  }
  const [operator, catalog] = await Promise.all([
    seeOperator(reader),
    readCatalog(cx.world, options.catalogFile),
  ])
  return {
    ...upgradeState,
    olm: olmGoal({ request: request.olm, operatorSnapshot: operator, releases, catalog }),
  }
}

function refuseUnused({ catalogFile, approveAlso }: UpgradeOptions, { method }: UpgradeRequest): void {
  if (method === 'olm' || (catalogFile ?? approveAlso) === undefined) return
  const flag = catalogFile === undefined ? '--approve-also' : '--catalog-file'
  throw usageError('catalog-unused', `${flag} would not be used: no HyperConverged owns KubeVirt here`, {
    remedy: 'leave it out',
  })
}
