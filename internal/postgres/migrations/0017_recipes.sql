-- Which sessions follow a recipe, so that the purge finds the recipes that none follows.
CREATE INDEX sessions_recipe ON sessions (recipe_hash) WHERE recipe_hash IS NOT NULL;
