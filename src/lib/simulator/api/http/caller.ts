import type { IncomingHttpHeaders } from 'node:http'
import { decide } from '../authorization.ts'
import { forbiddenTo, unauthorized } from '../refusal.ts'
import { admin, type Caller } from '../request.ts'
import type { Store } from '../store.ts'

/**
 * Who asks: `Bearer sim-<user>` or `Bearer <user>`; nobody in particular is the admin. `Impersonate-User` is honoured
 * for who may impersonate. Throws 401 for `Bearer expired`.
 */
export function callerOf(store: Store, headers: IncomingHttpHeaders): Caller {
  const userAgent = headers['user-agent'] ?? ''
  const real = { ...byToken(headers.authorization), userAgent }
  const wanted = one(headers['impersonate-user'])
  if (wanted === undefined || wanted === real.user) return real
  const access = { verb: 'impersonate', group: '', resource: 'users', name: wanted }
  if (!decide(store, real, access).allowed)
    throw forbiddenTo(
      { apiVersion: 'v1', plural: 'users' },
      wanted,
      `User "${real.user}" cannot impersonate resource "users" in API group "" at the cluster scope`,
    )
  return { ...userCalled(wanted, many(headers['impersonate-group'])), userAgent }
}

function byToken(authorization: string | undefined): Caller {
  const token = /^Bearer (?<token>.+)$/.exec(authorization ?? '')?.groups?.['token']
  if (token === undefined || token === 'sim-admin') return admin
  if (token === 'expired') throw unauthorized()
  return userCalled(token.replace(/^sim-/, ''))
}

function userCalled(user: string, groups: readonly string[] = []): Caller {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? []
  const accounts =
    namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return { user, groups: [...groups, ...accounts, 'system:authenticated'], userAgent: '' }
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

function many(header: string | string[] | undefined): string[] {
  return (Array.isArray(header) ? header : (header ?? '').split(','))
    .map((g) => g.trim())
    .filter((g) => g !== '')
}
