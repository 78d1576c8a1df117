/**
 * Expression for the id of the version of `assets` that a selector currently refers to: `latest`, a number as text, or the slug of an
 * environment. Null if there is none, or the asset is not published. `selector` is an expression of text.
 */
export const selectedVersion = (selector: string): string => /* sql */ `
  case
    when assets.published_version_id is null then null
    when ${selector} = 'latest' then assets.published_version_id
    when ${selector} ~ '^[1-9][0-9]{0,8}$' then (
      select numbered.id from asset_versions numbered
      where numbered.rule_id = assets.id and numbered.number = cast(${selector} as integer)
    )
    else (
      select releases.version_id from releases join environments on environments.id = releases.environment_id
      where releases.rule_id = assets.id and releases.state = 'live' and environments.slug = ${selector}
    )
  end`;
